// Open links to /#... at the page that reads such fragments.
"use strict";

{
  const { fragment, path } = document.currentScript.dataset;
  const openPage = () => {
    if (location.hash.startsWith(fragment)) location.replace(`${path}${location.hash}`);
  };
  openPage();
  addEventListener("hashchange", openPage);
}
