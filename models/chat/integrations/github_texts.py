"""The texts of GitHub's events."""

import string
from collections import Counter
from collections.abc import Callable, Mapping

from models.chat.integrations.payloads import Payload, quoted, web_link
from models.chat.rendering.quotes import inert_line

BRANCH, _TAG = "refs/heads/", "refs/tags/"
MAX_COMMITS = 20
Write = Callable[[Payload, bool], str]
"""Returns the Markdown of an event. The flag decides whether the title is included."""


def kind_of(issue: Payload) -> str:
    """Return the kind of an issue. GitHub sends comments on pull requests as comments on issues."""
    return "issue" if issue.find("pull_request") is None else "PR"


def _sender(payload: Payload) -> str:
    return inert_line(payload["sender"].text("login"))


def _repository(payload: Payload) -> str:
    repository = payload["repository"]
    return web_link(repository.text("full_name"), repository.text("html_url"))


def _numbered(kind: str, thing: Payload, titled: bool, address: str = "") -> str:
    label = f"{kind} #{thing.number('number')}"
    if titled:
        label += f" {thing.text('title')}"
    return web_link(label, address or thing.text("html_url"))


def _ended(sentence: str, body: str) -> str:
    """Return the sentence with its final punctuation, followed by the body as a quote if there is
    one.
    """
    if not body:
        return sentence if sentence[-1:] in string.punctuation.replace(")", "") else f"{sentence}."
    return f"{sentence}:\n\n{quoted(body)}"


def _pull_request(payload: Payload, titled: bool) -> str:
    thing, action = payload["pull_request"], payload.text("action")
    verb = "updated" if action == "synchronize" else action
    sentence = f"{_sender(payload)} {inert_line(verb)} {_numbered('PR', thing, titled)}"
    assignee, changes = thing.find("assignee"), payload.find("changes")
    if assignee is not None:
        sentence += f" (assigned to {inert_line(assignee.text('login'))})"
    if action == "opened":
        head, base = (inert_line(thing[end].text("label")) for end in ("head", "base"))
        sentence += f" from {head} to {base}"
    shows_body = action == "opened" or (changes is not None and changes.find("body") is not None)
    return _ended(sentence, thing.find_text("body") if shows_body else "")


def _closed_pull_request(payload: Payload, titled: bool) -> str:
    thing = payload["pull_request"]
    verb = "merged" if thing.flag("merged") else "closed without merge"
    return _ended(f"{_sender(payload)} {verb} {_numbered('PR', thing, titled)}", "")


def _assigned_pull_request(payload: Payload, titled: bool) -> str:
    return _assigned(payload, "PR", payload["pull_request"], titled)


def _assigned(payload: Payload, kind: str, thing: Payload, titled: bool) -> str:
    assignee = inert_line(payload["assignee"].text("login"))
    verb = "assigned" if payload.text("action") == "assigned" else "unassigned"
    word = "to" if verb == "assigned" else "from"
    return f"{_sender(payload)} {verb} {assignee} {word} {_numbered(kind, thing, titled)}."


def _review_requested(payload: Payload, titled: bool) -> str:
    person = payload.find("requested_reviewer")
    who = payload["requested_team"] if person is None else person
    name = web_link(who.text("login" if person else "name"), who.text("html_url"))
    thing = _numbered("PR", payload["pull_request"], titled)
    return f"{_sender(payload)} requested {name} for a review on {thing}."


def _ready_for_review(payload: Payload, titled: bool) -> str:
    thing = _numbered("PR", payload["pull_request"], titled)
    return f"{_sender(payload)} has marked {thing} as ready for review."


def _locked(payload: Payload, titled: bool) -> str:
    thing, action = payload["pull_request"], payload.text("action")
    sentence = f"{_sender(payload)} has {inert_line(action)} {_numbered('PR', thing, titled)}"
    if action != "locked":
        return f"{sentence}."
    reason = thing.find_text("active_lock_reason")
    as_reason = f" as {inert_line(reason)}" if reason else ""
    return f"{sentence}{as_reason} and limited conversation to collaborators."


def _auto_merge(payload: Payload, titled: bool) -> str:
    verb = "enabled" if payload.text("action") == "auto_merge_enabled" else "disabled"
    thing = _numbered("PR", payload["pull_request"], titled)
    return f"{_sender(payload)} has {verb} auto merge for {thing}."


def _review(payload: Payload, titled: bool) -> str:
    review, thing = payload["review"], payload["pull_request"]
    label = "PR review"
    if titled:
        label += f" for #{thing.number('number')} {thing.text('title')}"
    sentence = f"{_sender(payload)} submitted {web_link(label, review.text('html_url'))}"
    return _ended(sentence, review.find_text("body"))


def _review_comment(payload: Payload, titled: bool) -> str:
    comment, thing = payload["comment"], payload["pull_request"]
    action, label = payload.text("action"), "PR review comment"
    if titled:
        label += f" on #{thing.number('number')} {thing.text('title')}"
    where = web_link(label, comment.text("html_url"))
    body = comment.find_text("body") if action == "created" else ""
    return _ended(f"{_sender(payload)} {inert_line(action)} {where}", body)


def _issue(payload: Payload, titled: bool) -> str:
    thing, action = payload["issue"], payload.text("action")
    if action in ("assigned", "unassigned"):
        return _assigned(payload, "issue", thing, titled)
    sentence = f"{_sender(payload)} {inert_line(action)} {_numbered('issue', thing, titled)}"
    return _ended(sentence, thing.find_text("body"))


def _issue_transferred(payload: Payload, titled: bool) -> str:
    changes = payload["changes"]
    repository, issue = changes["new_repository"], changes["new_issue"]
    label = f"{repository.text('full_name')}/#{issue.number('number')}"
    new = web_link(label, issue.text("html_url"))
    return f"{_sender(payload)} transferred {_numbered('issue', payload['issue'], True)} to {new}."


def _labelled(payload: Payload, titled: bool) -> str:
    verb, word = ("added", "to") if payload.text("action") == "labeled" else ("removed", "from")
    label = inert_line(payload["label"].text("name"))
    thing = _numbered("Issue", payload["issue"], titled)
    return f"{_sender(payload)} {verb} the {label} label {word} {thing}."


def _milestoned(payload: Payload, titled: bool) -> str:
    is_added = payload.text("action") == "milestoned"
    verb, word = ("added", "to") if is_added else ("removed", "from")
    milestone = payload["milestone"]
    name = web_link(milestone.text("title"), milestone.text("html_url"))
    thing = _numbered("issue", payload["issue"], titled)
    return f"{_sender(payload)} {verb} milestone {name} {word} {thing}."


def _commented(payload: Payload, place: str) -> str:
    """Return the sentence about a comment on `place`, with the comment."""
    comment, action = payload["comment"], payload.text("action")
    is_new = action == "created"
    word = web_link("commented" if is_new else "comment", comment.text("html_url"))
    verb = word if is_new else f"{inert_line(action)} a {word}"
    return _ended(f"{_sender(payload)} {verb} on {place}", comment.find_text("body"))


def _issue_comment(payload: Payload, titled: bool) -> str:
    issue = payload["issue"]
    return _commented(payload, _numbered(kind_of(issue), issue, titled))


def _discussion_comment(payload: Payload, titled: bool) -> str:
    return _commented(payload, _numbered("discussion", payload["discussion"], titled))


def _commit_comment(payload: Payload, titled: bool) -> str:
    comment = payload["comment"]
    address = comment.text("html_url")
    commit = web_link(comment.text("commit_id")[:7], address.partition("#")[0])
    sentence = f"{_sender(payload)} {web_link('commented', address)} on {commit}"
    return _ended(sentence, comment.find_text("body"))


def _discussion(payload: Payload, titled: bool) -> str:
    thing = payload["discussion"]
    if payload.find_text("action") not in ("created", ""):
        verb = inert_line(payload.text("action"))
        return f"{_sender(payload)} {verb} {_numbered('discussion', thing, titled)}."
    category = inert_line(thing["category"].text("name"))
    sentence = f"{_sender(payload)} created {_numbered('discussion', thing, titled)} in {category}"
    return _ended(sentence, thing.find_text("body"))


def _push_commits(payload: Payload, titled: bool) -> str:
    branch = inert_line(payload.text("ref").removeprefix(BRANCH))
    commits, compare = list(payload.items("commits")), payload.find_text("compare")
    sender = _sender(payload)
    if not commits:
        verb = "deleted" if payload.flag("deleted") else "pushed"
        return f"{sender} {web_link(verb, compare)} the branch {branch}."
    verb = web_link("force pushed" if payload.flag("forced") else "pushed", compare)
    noun = "commit" if len(commits) == 1 else "commits"
    text = f"{sender} {verb} {len(commits)} {noun} to branch {branch}."
    authors = Counter(_author(commit) for commit in commits)
    if list(authors) != [payload["sender"].text("login")]:
        text += f" Commits by {_listed(authors)}."
    lines = [_commit(commit) for commit in commits[:MAX_COMMITS]]
    if len(commits) > MAX_COMMITS:
        lines.append(f"[and {len(commits) - MAX_COMMITS} more commit(s)]")
    return "\n".join([text, "", *lines])


def _author(commit: Payload) -> str:
    author = commit["author"]
    return author.find_text("username") or author.text("name")


def _listed(authors: Mapping[str, int]) -> str:
    """Return up to three names with their numbers of commits, and the total of the others."""
    ordered = sorted(authors.items(), key=lambda each: (-each[1], each[0]))
    shown = [f"{inert_line(name)} ({number})" for name, number in ordered[:3]]
    others = sum(number for _, number in ordered[3:])
    if others:
        shown.append(f"others ({others})")
    *first, last = shown
    return f"{', '.join(first)} and {last}" if first else last


def _commit(commit: Payload) -> str:
    title = inert_line(commit.text("message").partition("\n")[0])
    return f"* {title} ({web_link(commit.text('id')[:7], commit.find_text('url'))})"


def _push_tags(payload: Payload, titled: bool) -> str:
    verb = "pushed" if payload.flag("created") else "removed"
    return f"{_sender(payload)} {verb} tag {inert_line(payload.text('ref').removeprefix(_TAG))}."


def _created_or_deleted(verb: str) -> Write:
    def write(payload: Payload, titled: bool) -> str:
        kind, name = inert_line(payload.text("ref_type")), payload.find_text("ref")
        return f"{_sender(payload)} {verb} {kind} {inert_line(name)}".rstrip() + "."

    return write


def _release(payload: Payload, titled: bool) -> str:
    release, action = payload["release"], inert_line(payload.text("action"))
    tag = release.text("tag_name")
    name = web_link(release.find_text("name") or tag, release.text("html_url"))
    return f"{_sender(payload)} {action} release {name} for tag {inert_line(tag)}."


def _fork(payload: Payload, titled: bool) -> str:
    fork = payload["forkee"]
    return f"{_sender(payload)} forked {web_link(fork.text('name'), fork.text('html_url'))}."


def _star(payload: Payload, titled: bool) -> str:
    verb = "unstarred" if payload.find_text("action") == "deleted" else "starred"
    return f"{_sender(payload)} {verb} the repository {_repository(payload)}."


def _repository_event(payload: Payload, titled: bool) -> str:
    verb = inert_line(payload.text("action"))
    return f"{_sender(payload)} {verb} the repository {_repository(payload)}."


def _public(payload: Payload, titled: bool) -> str:
    return f"{_sender(payload)} made the repository {_repository(payload)} public."


def _member(payload: Payload, titled: bool) -> str:
    member, verb = payload["member"], inert_line(payload.text("action"))
    name = web_link(member.text("login"), member.text("html_url"))
    return f"{_sender(payload)} {verb} {name} to {_repository(payload)}."


def _membership(payload: Payload, titled: bool) -> str:
    member, action = payload["member"], payload.text("action")
    name = web_link(member.text("login"), member.text("html_url"))
    word = "from" if action == "removed" else "to"
    team = inert_line(payload["team"].text("name"))
    return f"{_sender(payload)} {inert_line(action)} {name} {word} the {team} team."


def _team(payload: Payload, titled: bool) -> str:
    changes = sorted(dict.fromkeys(payload["changes"].value or ()))
    return f"{_sender(payload)} changed the {inert_line(', '.join(changes))} of the team."


def _team_add(payload: Payload, titled: bool) -> str:
    team = inert_line(payload["team"].text("name"))
    return f"The repository {_repository(payload)} was added to team {team}."


def _wiki(payload: Payload, titled: bool) -> str:
    lines = [
        f"* {inert_line(page.text('action'))} {web_link(page.text('title'), page.text('html_url'))}"
        for page in payload.items("pages")
    ]
    return "\n".join([f"{_sender(payload)}:", *lines])


def _check_run(payload: Payload, titled: bool) -> str:
    run = payload["check_run"]
    sha = run.text("head_sha")
    commit = web_link(sha[:7], f"{payload['repository'].text('html_url')}/commit/{sha}")
    name, end = web_link(run.text("name"), run.text("html_url")), run.find_text("conclusion")
    return f"Check {name} {inert_line(run.text('status'))} ({inert_line(end)}). ({commit})"


def _status(payload: Payload, titled: bool) -> str:
    commit = web_link(payload.text("sha")[:7], payload["commit"].text("html_url"))
    state = web_link(payload.text("state"), payload.find_text("target_url"))
    return f"{commit} changed its status to {state}."


def _deployment(payload: Payload, titled: bool) -> str:
    return f"{_sender(payload)} created new deployment."


def _deployment_status(payload: Payload, titled: bool) -> str:
    return f"Deployment changed status to {inert_line(payload['deployment_status'].text('state'))}."


def _page_build(payload: Payload, titled: bool) -> str:
    build = payload["build"]
    who, status = inert_line(build["pusher"].text("login")), inert_line(build.text("status"))
    error = build.find("error")
    sentence = f"GitHub Pages build, triggered by {who}, is {status}"
    return _ended(sentence, "" if error is None else error.find_text("message"))


def _ping(payload: Payload, titled: bool) -> str:
    return f"GitHub webhook has been successfully configured by {_sender(payload)}."


WRITE: dict[str, Write] = {
    "assigned_or_unassigned_pull_request": _assigned_pull_request,
    "check_run": _check_run,
    "closed_pull_request": _closed_pull_request,
    "commit_comment": _commit_comment,
    "create": _created_or_deleted("created"),
    "delete": _created_or_deleted("deleted"),
    "deployment": _deployment,
    "deployment_status": _deployment_status,
    "discussion": _discussion,
    "discussion_comment": _discussion_comment,
    "fork": _fork,
    "gollum": _wiki,
    "issue_comment": _issue_comment,
    "issue_labeled_or_unlabeled": _labelled,
    "issue_milestoned_or_demilestoned": _milestoned,
    "issues": _issue,
    "issues_transferred": _issue_transferred,
    "locked_or_unlocked_pull_request": _locked,
    "member": _member,
    "membership": _membership,
    "opened_pull_request": _pull_request,
    "page_build": _page_build,
    "ping": _ping,
    "public": _public,
    "pull_request_auto_merge": _auto_merge,
    "pull_request_ready_for_review": _ready_for_review,
    "pull_request_review": _review,
    "pull_request_review_comment": _review_comment,
    "pull_request_review_requested": _review_requested,
    "push_commits": _push_commits,
    "push_tags": _push_tags,
    "release": _release,
    "repository": _repository_event,
    "star": _star,
    "status": _status,
    "team": _team,
    "team_add": _team_add,
    "updated_pull_request": _pull_request,
    "watch": _star,
}
"""Event -> the function that writes its text."""
