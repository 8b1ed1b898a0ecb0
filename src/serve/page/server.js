// Asking the server.

/** Asks the server; what it refuses becomes an error with its words. */
export async function ask(address, options = {}) {
  const answer = await fetch(address, options);
  const isJson = (answer.headers.get("content-type") ?? "").startsWith("application/json");
  const told = isJson ? await answer.json() : { error: await answer.text() };
  if (!answer.ok) throw Object.assign(new Error(told.error), { status: answer.status });
  return told;
}
