// Keeps an open checkout page true: a countdown on the server's clock, copy buttons, and live status.
// The server writes all text in the language of the page; when its revision changes, the sheet is replaced by that of a fresh page.
"use strict";

(() => {
  const page = document.getElementById("checkout");
  const announcer = document.getElementById("announce");
  const address = location.pathname;
  const texts = JSON.parse(page.dataset.texts);
  const { lang } = document.documentElement;
  // The browser's own locale, if it is of the page's language: the clock of en-GB has 24 hours.
  const usual = new Intl.DateTimeFormat().resolvedOptions().locale;
  const locale = usual.split("-")[0] === lang ? usual : lang;
  const pollMs = Number(page.dataset.pollMs);
  const slowMs = Math.max(pollMs, 10_000);
  const lowMs = 120_000;

  // The server's time at a moment of the monotonic clock; the computer's own date is never used.
  let clock = { server: Number(page.dataset.now), local: performance.now() };
  let failures = 0;
  let timer = 0;
  let isAsking = false;
  let isOver = false;

  document.documentElement.classList.add("js");

  const serverNow = () => clock.server + performance.now() - clock.local;
  const deadline = () => Number(page.dataset.deadline);
  const sheet = () => document.getElementById("sheet");
  const isPayable = () => "payable" in sheet().dataset;

  function writeTimeLeft(ms) {
    const seconds = Math.max(0, Math.floor(ms / 1000));
    const pad = (number) => String(number).padStart(2, "0");
    const rest = `${pad(Math.floor(seconds / 60) % 60)}:${pad(seconds % 60)}`;
    const hours = Math.floor(seconds / 3600);
    return hours ? `${hours}:${rest}` : rest.replace(/^0(?=\d:)/, "");
  }

  // The end of the time to pay, by the shopper's clock; its title has it in UTC.
  function writeEnd() {
    const end = document.getElementById("until");
    if (end) end.textContent = new Date(end.dateTime).toLocaleTimeString(locale, { timeStyle: "medium" });
  }

  function tick() {
    const countdown = document.getElementById("countdown");
    if (!countdown) return;
    const left = deadline() - serverNow();
    document.getElementById("time-left").textContent = writeTimeLeft(left);
    countdown.classList.toggle("low", left < lowMs);
    if (left <= 0 && !isOver) {
      isOver = true;
      ask();
    }
  }

  async function load(path) {
    const answer = await fetch(path, {
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
    if (!answer.ok && answer.status !== 410) throw new Error(`status ${answer.status}`);
    return answer;
  }

  async function replaceSheet() {
    const text = await (await load(address + location.search)).text();
    const fresh = new DOMParser().parseFromString(text, "text/html");
    const [from, to] = [fresh.getElementById("checkout"), fresh.getElementById("sheet")];
    const focused = document.activeElement && document.activeElement.id;
    for (const name of ["revision", "deadline"]) page.dataset[name] = from.dataset[name];
    sheet().replaceWith(document.adoptNode(to));
    document.title = fresh.title;
    document.dispatchEvent(new Event("sheet"));
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    isOver = false;
    writeEnd();
    tick();
    const say = (id) => document.getElementById(id).textContent;
    announcer.textContent = `${say("status-title")}. ${say("status-text")}`;
  }

  async function ask() {
    if (isAsking) return;
    isAsking = true;
    clearTimeout(timer);
    let pause = pollMs;
    try {
      const status = await (await load(`${address}/status`)).json();
      clock = { server: status.now, local: performance.now() };
      if (status.revision !== page.dataset.revision) await replaceSheet();
      failures = 0;
      page.toggleAttribute("data-final", status.is_final);
      if (status.is_final) pause = Infinity;
      else if (!isPayable() && status.status !== "processing") pause = slowMs;
    } catch {
      failures += 1;
      pause = Math.min(pollMs * 2 ** failures, 15_000);
    }
    document.getElementById("offline").hidden = failures < 2;
    if (document.hidden) pause = Math.max(pause, slowMs);
    isAsking = false;
    if (pause !== Infinity) timer = setTimeout(ask, pause);
  }

  async function copy(button) {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      // Without https (or permission) there is no clipboard object: select, then copy the selection.
      getSelection().selectAllChildren(source);
      if (!document.execCommand("copy")) {
        announcer.textContent = texts.copy_by_keyboard;
        return;
      }
      getSelection().removeAllRanges();
    }
    const label = button.querySelector("span");
    const usual = button.dataset.label ?? (button.dataset.label = label.textContent);
    label.textContent = texts.copied;
    button.classList.add("done");
    announcer.textContent = button.dataset.said;
    setTimeout(() => {
      label.textContent = usual;
      button.classList.remove("done");
    }, 1500);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) copy(button);
  });
  document.addEventListener("look", ask);
  addEventListener("offline", () => {
    if (isFinal()) return; // nothing is asked for any more
    failures = Math.max(failures, 2);
    document.getElementById("offline").hidden = false;
  });
  addEventListener("online", () => isFinal() || ask());
  document.addEventListener("visibilitychange", () => document.hidden || isFinal() || ask());

  const isFinal = () => "final" in page.dataset;
  setInterval(tick, 500);
  writeEnd();
  tick();
  if (!isFinal()) timer = setTimeout(ask, pollMs);
})();
