// Asking again after a failure: later each time, and no earlier than the server says.

const LONGEST_PAUSE_MS = 30_000;

/** Waits, or until the browser is connected again. */
export function pause(ms, signal) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
    signal.addEventListener("abort", done);
  });
}

function backOff(failures, error) {
  const ms = Math.min(500 * 2 ** failures, LONGEST_PAUSE_MS);
  return Math.max(error.retryAfter * 1000 || 0, ms * (0.75 + Math.random() / 2));
}

/** Asks until `signal` is aborted, or until the server refuses the user.
 *
 * `ask(isTrial)` returns how many ms to wait before the next time; `isTrial`: whether there is a
 * connection is to be known at once. `lose(error)` tells whether what was lost can be asked for at
 * once. `trouble(failures)` hears how many failures there were in a row, and `refused(error)` of a
 * 401. */
export async function repeat(signal, { ask, lose, trouble, refused }) {
  for (let failures = 0; !signal.aborted; ) {
    let wait;
    try {
      wait = await ask(failures > 0);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 401) return void refused(error);
      if (error.status === undefined) console.error(error);
      wait = lose(error) && failures === 0 ? 0 : backOff(failures, error);
      failures += 1;
    }
    trouble(failures);
    if (wait > 0) await pause(wait, signal);
  }
}

/** What `ask` answers as soon as the server is there and has time. Raises its other refusals. */
export async function insist(signal, ask) {
  for (let failures = 0; ; failures += 1) {
    try {
      return await ask();
    } catch (error) {
      const isPassing = error.status === 0 || error.status === 429 || error.status >= 500;
      if (!isPassing) throw error;
      await pause(backOff(failures, error), signal);
      signal.throwIfAborted();
    }
  }
}
