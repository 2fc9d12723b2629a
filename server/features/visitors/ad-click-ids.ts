// The click ids of ad networks in the address of a page. Only forms that ask for them keep them (docs/contract.md §14):
// the network knows which person each names.

export const AD_CLICK_ID_NAMES = ['gclid', 'gbraid', 'wbraid', 'msclkid', 'fbclid'] as const
export type AdClickIdName = (typeof AD_CLICK_ID_NAMES)[number]
export type AdClickIds = Partial<Record<AdClickIdName, string>>

/** Networks use letters, digits and `-_.~`. No such text is a formula for a spreadsheet. */
const VALUE = '[A-Za-z0-9][A-Za-z0-9._~-]{0,255}'
export const AD_CLICK_ID_VALUE = new RegExp(`^${VALUE}$`)
const AD_CLICK_ID = new RegExp(`(?:^|&)(${AD_CLICK_ID_NAMES.join('|')})=(${VALUE})(?=&|$)`, 'g')
/** Nearly every query ends here: a search for a text takes a tenth of a regular expression. */
const COMMON_PART = /cl(?:k)?id=|braid=/

/**
 * @param query without its `?`
 * @returns the ids as part of a query, such as `gclid=Cj0K…`, the first of each name; undefined where there is none
 */
export function extractAdClickIds(query: string): string | undefined {
  if (!COMMON_PART.test(query)) return undefined
  const found = new Map<string, string>()
  for (const [, name = '', id = ''] of query.matchAll(AD_CLICK_ID)) if (!found.has(name)) found.set(name, id)
  return found.size === 0 ? undefined : Array.from(found, ([name, id]) => `${name}=${id}`).join('&')
}

/** @param part see `extractAdClickIds` */
export const parseAdClickIds = (part: string): AdClickIds => Object.fromEntries(new URLSearchParams(part))
