// A domain's settings while they are edited: texts in the fields, and the request body that they become.

import type { DomainResource, UpdateDomainInput } from '../../api/domains.ts'

export const URL_FIELDS = ['rootUrl', 'notFoundUrl', 'expiredUrl'] as const
export const JSON_FIELDS = ['assetLinks', 'appleAppSiteAssociation'] as const
export const DOMAIN_FIELDS = [...URL_FIELDS, ...JSON_FIELDS]

export type DomainField = (typeof DOMAIN_FIELDS)[number]
export type DomainDraft = Record<DomainField, string>

const toJsonText = (value: unknown) => (value === null ? '' : JSON.stringify(value, null, 2))

export const toDomainDraft = (domain: DomainResource): DomainDraft => ({
  rootUrl: domain.rootUrl ?? '',
  notFoundUrl: domain.notFoundUrl ?? '',
  expiredUrl: domain.expiredUrl ?? '',
  assetLinks: toJsonText(domain.assetLinks),
  appleAppSiteAssociation: toJsonText(domain.appleAppSiteAssociation),
})

/** `https://` before an address without a scheme. */
const withScheme = (text: string) =>
  text === '' || /^[a-z][a-z0-9+.-]*:/i.test(text) ? text : `https://${text}`

/** @throws for a text that is no JSON, with a sentence for people */
function readJson(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`This isn’t valid JSON: ${(error as Error).message}`)
  }
}

/** @returns messages by field: what can be seen without the server */
export function validateDomainDraft(draft: Partial<DomainDraft>): Partial<DomainDraft> {
  const errors: Partial<DomainDraft> = {}
  for (const field of JSON_FIELDS) {
    try {
      readJson(draft[field] ?? '')
    } catch (error) {
      errors[field] = (error as Error).message
    }
  }
  return errors
}

/** The request body: the settings that differ from the stored ones. The draft is valid. */
export function toDomainChanges(domain: DomainResource, draft: DomainDraft): UpdateDomainInput {
  const stored = toDomainDraft(domain)
  const changed = DOMAIN_FIELDS.filter((field) => draft[field].trim() !== stored[field].trim())
  const isJson = (field: DomainField) => (JSON_FIELDS as readonly string[]).includes(field)
  return Object.fromEntries(
    changed.map((field) => {
      const text = draft[field].trim()
      return [field, isJson(field) ? readJson(text) : withScheme(text) || null]
    }),
  )
}
