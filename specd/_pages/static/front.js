// Zulip's clients, mails and rendered messages link to conversations as /#narrow/...: /chat shows them.
"use strict";

const openConversation = () => {
  if (location.hash.startsWith("#narrow/")) location.replace(`/chat${location.hash}`);
};
openConversation();
addEventListener("hashchange", openConversation);
