// Requests that the page sends before its script is there: on a slow network, the answers wait for the script and not the
// other way round. boot.ts and the app are two bundles, which meet on the window.

type Answers = Map<string, Promise<Response>>
const holder = globalThis as typeof globalThis & { earlyAnswers?: Answers }

/** Every page of a workspace begins with these two (api/session.ts). */
const FIRST_REQUESTS = ['/api/auth/get-session', '/v1/workspaces?limit=100']

const IN_WORKSPACE = /^\/app\/?(?:(\d+)(?:\/(.*?)\/?)?|new)?$/

/**
 * What the content of a page begins with when its address has no filters. A request that the page does not send in the same
 * words would be sent twice: tests/browser/dashboard-weight.test.ts.
 */
function listContentRequests(place = ''): string[] {
  const linkId = /^links\/(\d+)$/.exec(place)?.[1]
  if (place === 'links') return ['/v1/links?limit=100']
  if (place === 'inbox') return ['/v1/submissions?status=new%2Cread&limit=50']
  if (place !== 'analytics' && !linkId) return []
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone
  const view = `?${new URLSearchParams({ interval: '30d', timezone, ...(linkId && { linkId }) })}`
  return [
    ...(linkId ? [`/v1/links/${linkId}`] : []),
    `/v1/analytics/clicks${view}`,
    `/v1/analytics/leads${view}&model=last`,
    `/v1/analytics/funnel${view}&model=last`,
    `/v1/analytics/clicks${view}&groupBy=time`,
  ]
}

export function askEarly({ pathname, search }: Pick<Location, 'pathname' | 'search'>): void {
  const [isIn, workspace = '', place] = IN_WORKSPACE.exec(pathname) ?? []
  if (isIn === undefined) return
  const ask = (url: string, headers?: HeadersInit) => fetch(url, { headers })
  holder.earlyAnswers = new Map([
    ...FIRST_REQUESTS.map((url) => [toKey(url), ask(url)] as const),
    ...(search ? [] : listContentRequests(place)).map(
      (url) => [toKey(url, workspace), ask(url, { 'X-Workspace': workspace })] as const,
    ),
  ])
  // The request that takes the answer reports the error.
  for (const answer of holder.earlyAnswers.values()) answer.catch(() => {})
}

const toKey = (url: string, workspace = '') => `${workspace} ${url}`

export const hasEarlyAnswer = (url: string, workspace: number) =>
  holder.earlyAnswers?.has(toKey(url, String(workspace))) === true

/**
 * @param isChange the request may change what was answered, as a sign-in does: it ends all early answers
 * @returns the answer, once
 */
export function takeEarlyAnswer(
  url: string,
  workspace: string | undefined,
  isChange: boolean,
): Promise<Response> | undefined {
  if (isChange) holder.earlyAnswers = undefined
  const key = toKey(url, workspace)
  const answer = holder.earlyAnswers?.get(key)
  holder.earlyAnswers?.delete(key)
  return answer
}
