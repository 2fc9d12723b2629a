// Parses the body of a page view, as the snippet sends it (docs/contract.md §8).

export interface PageViewBody {
  /** The public id of the workspace. */
  w: string
  /** The address of the page. */
  u: string
  /** The address of the referrer; '' for none. */
  r: string
  /** The event id of the page before. */
  e: string | undefined
}

/** @returns the body, or a text that says what is wrong with it */
export function parsePageViewBody(text: string): PageViewBody | string {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return 'Invalid JSON'
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'The body must be an object'
  const { w, u, r = '', e } = body as Record<string, unknown>
  if (typeof w !== 'string') return 'w: must be the public id of a workspace'
  if (typeof u !== 'string') return "u: must be the page's address"
  if (typeof r !== 'string') return "r: must be the referrer's address"
  // Anything that is no event id starts a new visit.
  return { w, u, r, e: typeof e === 'string' ? e : undefined }
}
