// Requests that the page sends before its script is there: on a slow network, the answers wait for the script and not the
// other way round. boot.ts and the app are two bundles, which meet on the window.

type Answers = Map<string, Promise<Response>>
const holder = globalThis as typeof globalThis & { earlyAnswers?: Answers }

/** Every page of a workspace begins with these two (api/session.ts). */
const FIRST_REQUESTS = ['/api/auth/get-session', '/v1/workspaces?limit=100']

const IN_WORKSPACE = /^\/app\/?(?:\d+(?:\/|$)|new$|$)/

export function askEarly(pathname: string): void {
  if (!IN_WORKSPACE.test(pathname)) return
  holder.earlyAnswers = new Map(FIRST_REQUESTS.map((url) => [url, fetch(url)]))
  // The request that takes the answer reports the error.
  for (const answer of holder.earlyAnswers.values()) answer.catch(() => {})
}

/** @returns the answer, once, and never after a request that may change it, such as a sign-in */
export function takeEarlyAnswer(method: string, url: string): Promise<Response> | undefined {
  if (method !== 'GET') holder.earlyAnswers = undefined
  const answer = holder.earlyAnswers?.get(url)
  holder.earlyAnswers?.delete(url)
  return answer
}
