// Turns the settings of a request into columns of a domain, and checks their URLs as destinations of links are checked.

import { invalid } from '../../../lib/failure.ts'
import { checkUrl } from '../../../lib/web-url.ts'
import type { Site } from '../link.ts'
import type { DomainRow } from './domain.ts'
import type { UpdateDomainInput } from './schema.ts'

type SettableColumns = Pick<
  DomainRow,
  'root_url' | 'not_found_url' | 'expired_url' | 'asset_links' | 'apple_app_site_association'
>

/** The placeholder that a redirect replaces by the slug. */
const PLACEHOLDER = '{slug}'
/** A URL keeps it as it is, in each of its parts. */
const STAND_IN = 'towpath-slug-9c1e57a0'

/** An absent field gives no column. @throws Failure `invalid`, naming every wrong URL */
export function toDomainColumns(
  site: Site,
  input: Omit<UpdateDomainInput, 'primary'>,
): Partial<SettableColumns> {
  const errors: Record<string, string> = {}
  const toUrl = (field: 'rootUrl' | 'notFoundUrl' | 'expiredUrl') => {
    const value = input[field]
    if (typeof value !== 'string') return value
    const checked = checkTarget(value, site, field !== 'rootUrl')
    if ('wrong' in checked) errors[field] = checked.wrong
    return 'href' in checked ? checked.href : value
  }
  const columns: Partial<SettableColumns> = {
    root_url: toUrl('rootUrl'),
    not_found_url: toUrl('notFoundUrl'),
    expired_url: toUrl('expiredUrl'),
    asset_links: toText(input.assetLinks),
    apple_app_site_association: toText(input.appleAppSiteAssociation),
  }
  if (Object.keys(errors).length > 0) throw invalid(errors)
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

const toText = (value: object | null | undefined) => (value ? JSON.stringify(value) : value)

function checkTarget(text: string, site: Site, hasSlug: boolean): { href: string } | { wrong: string } {
  if (!text.includes(PLACEHOLDER)) return checkUrl(text, site)
  if (!hasSlug)
    return { wrong: `must not have ${PLACEHOLDER}: who asks for the domain itself asks for no slug` }
  const checked = checkUrl(text.replaceAll(PLACEHOLDER, STAND_IN), site)
  if ('wrong' in checked) return checked
  const { pathname, search, hash } = new URL(checked.href)
  const rest = pathname + search + hash
  // A slug in the name of the host would lead visitors to any host.
  if (rest.split(STAND_IN).length !== text.split(PLACEHOLDER).length)
    return { wrong: `may have ${PLACEHOLDER} after the host only` }
  return { href: checked.href.replaceAll(STAND_IN, PLACEHOLDER) }
}
