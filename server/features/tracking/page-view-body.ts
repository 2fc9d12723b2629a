// Parses the body of a page view, as the snippet sends it (docs/contract.md §8).

export interface ReportedPage {
  /** The address of the page. */
  u: string
  /** The address of the referrer; '' for none. */
  r: string
  /** The page view's random id: a page view that is reported twice counts once. Old snippets send none. */
  i: string | undefined
}

export interface PageViewBody extends ReportedPage {
  /** The public id of the workspace. */
  w: string
  /** The event id of the page before. */
  e: string | undefined
  /** Earlier pages of the tab, oldest first: the visitor left them before the server had answered. */
  p: ReportedPage[]
}

/** The snippet keeps no more. */
const EARLIER_MAX = 3
const VIEW_ID = /^\w{1,40}$/

/** @returns the body, or a text that says what is wrong with it */
export function parsePageViewBody(text: string): PageViewBody | string {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return 'Invalid JSON'
  }
  if (!isObject(body)) return 'The body must be an object'
  const { w, e, p = [] } = body
  if (typeof w !== 'string') return 'w: must be the public id of a workspace'
  const page = parsePage(body)
  if (typeof page === 'string') return page
  if (!Array.isArray(p) || p.length > EARLIER_MAX) return `p: must be a list of at most ${EARLIER_MAX} pages`
  const earlier: ReportedPage[] = []
  for (const value of p) {
    const parsed = isObject(value) ? parsePage(value) : 'must be an object'
    if (typeof parsed === 'string') return `p: ${parsed}`
    earlier.push(parsed)
  }
  // Anything that is no event id starts a new visit.
  return { w, ...page, e: typeof e === 'string' ? e : undefined, p: earlier }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parsePage({ u, r = '', i }: Record<string, unknown>): ReportedPage | string {
  if (typeof u !== 'string') return "u: must be the page's address"
  if (typeof r !== 'string') return "r: must be the referrer's address"
  if (i !== undefined && (typeof i !== 'string' || !VIEW_ID.test(i)))
    return 'i: must be 1 to 40 letters and digits'
  return { u, r, i }
}
