/** What can be asked of a server, without asking: a client performs it. */

export const API = "/api/v1";

/** One request. */
export interface Call {
  method: "GET" | "POST";
  path: string;
  body?: string;
  /** Whether doing it twice is the same as doing it once, also over a restart of the server. */
  again: boolean;
  /** How long the server may think about it before it answers, in milliseconds. */
  wait: number;
}

/** A request with a body. */
export function post(path: string, body: unknown, how: Partial<Pick<Call, "again" | "wait">> = {}): Call {
  return { method: "POST", path: API + path, body: JSON.stringify(body), again: true, wait: 0, ...how };
}

/** A request without a body; what is not given is left out of the query. */
export function get(path: string, query: Record<string, string | number | undefined> = {}, wait = 0): Call {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  const text = given.toString();
  return { method: "GET", path: API + path + (text === "" ? "" : `?${text}`), again: true, wait };
}

/** The address of a queue of domain events, or of something of it. */
export function queue(namespace: string, rest = ""): string {
  return `/domain/${encodeURIComponent(namespace)}${rest}`;
}

/** The address of a run, or of something of it. */
export function at(run: string, rest = ""): string {
  return `/runs/${encodeURIComponent(run)}${rest}`;
}
