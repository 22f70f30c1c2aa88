// Days and hours of messages as people read them. The API has Unix seconds.

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" });
const DAY_MS = 86_400_000;

const dateOf = (seconds) => new Date(seconds * 1000);

export const writeClock = (seconds) => CLOCK.format(dateOf(seconds));
export const writeWhole = (seconds) => WHOLE.format(dateOf(seconds));

/** Equal for two times of one day. */
export const dayOf = (seconds) => dateOf(seconds).toDateString();

export function writeDay(seconds) {
  const day = dayOf(seconds);
  if (day === new Date().toDateString()) return "Today";
  if (day === new Date(Date.now() - DAY_MS).toDateString()) return "Yesterday";
  return DAY.format(dateOf(seconds));
}

/** Times at which people want a message sent: [name, Date], all of them later than now. */
export function laterTimes(now = new Date()) {
  const morning = (days) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, 9);
  return [
    ["In an hour", new Date(now.getTime() + 3_600_000)],
    ["Tomorrow at 9", morning(1)],
    ["Monday at 9", morning(8 - (now.getDay() || 7))],
  ];
}

/** The value of a datetime-local field: local time, to the minute. */
export function fieldValueOf(date) {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
