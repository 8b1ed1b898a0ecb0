// Requests to the server.

/** Identifies the searches of this page to the server. */
export const CLIENT = crypto.getRandomValues(new Uint32Array(2)).join("-");

/** Sends a request. If it fails, throws an error with the server's message. */
export async function ask(address, options = {}) {
  const answer = await fetch(address, options);
  const isJson = (answer.headers.get("content-type") ?? "").startsWith("application/json");
  const body = isJson ? await answer.json() : { error: await answer.text() };
  if (!answer.ok) throw Object.assign(new Error(body.error), { status: answer.status });
  return body;
}

/** Requests lines of JSON, and yields each line as it arrives. */
export async function* lines(address, options = {}) {
  const answer = await fetch(address, options);
  if (!answer.ok) {
    const words = await answer.text();
    const isJson = (answer.headers.get("content-type") ?? "").startsWith("application/json");
    throw new Error(isJson ? JSON.parse(words).error : words);
  }
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const whole = (rest + value).split("\n");
    rest = whole.pop();
    // Empty lines keep the connection alive.
    for (const line of whole.filter(Boolean)) yield JSON.parse(line);
  }
}
