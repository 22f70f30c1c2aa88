// Times as people read them, in the browser's own language and time zone. All are Unix milliseconds.

const SHORT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export const writeShort = (ms) => SHORT.format(new Date(ms));
export const writeIso = (ms) => new Date(ms).toISOString();
