// One change of many links while it is edited, and the request that it becomes.

import type { LinkChangesInput } from '../../../api/links.ts'
import { toIso } from '../../../ui/forms/local-time.ts'
import { NO_UTM, UTM_PARAMETERS, type UtmValues, withScheme } from '../editor/destination-url.ts'

/** `keep` leaves the field of each link as it is. */
export interface BulkDraft {
  destination: 'keep' | 'set' | 'replace'
  url: string
  find: string
  with: string
  utm: 'keep' | 'set' | 'remove'
  utmValues: UtmValues
  expiration: 'keep' | 'set' | 'remove'
  expiresAt: string
  expiredUrl: string
  /** '' keeps the domain of each link. */
  domain: string
  archive: 'keep' | 'archive' | 'unarchive'
}

export const NO_CHANGES: BulkDraft = {
  destination: 'keep',
  url: '',
  find: '',
  with: '',
  utm: 'keep',
  utmValues: NO_UTM,
  expiration: 'keep',
  expiresAt: '',
  expiredUrl: '',
  domain: '',
  archive: 'keep',
}

/** Checks that need no server. @returns messages by field */
export function validateBulk(draft: BulkDraft): Record<string, string> {
  const errors: Record<string, string> = {}
  if (draft.destination === 'set' && draft.url.trim() === '') errors.url = 'Enter a destination URL.'
  if (draft.destination === 'replace' && draft.find === '') errors.find = 'Enter the text to find.'
  if (draft.utm === 'set' && Object.values(draft.utmValues).every((value) => value.trim() === ''))
    errors.utm = 'Enter at least one value.'
  if (draft.expiration === 'set' && draft.expiresAt === '') errors.expiresAt = 'Choose a time.'
  return errors
}

export function toChanges(draft: BulkDraft): LinkChangesInput {
  const utm = UTM_PARAMETERS.flatMap(({ name, field }): [string, string | null][] => {
    const value = draft.utmValues[name].trim()
    if (draft.utm === 'remove') return [[field, null]]
    return draft.utm === 'set' && value !== '' ? [[field, value]] : []
  })
  return {
    ...(draft.destination === 'set' && { destinationUrl: withScheme(draft.url) }),
    ...(draft.destination === 'replace' && { replace: { find: draft.find, with: draft.with } }),
    ...Object.fromEntries(utm),
    ...(draft.expiration === 'set' && { expiresAt: toIso(draft.expiresAt) }),
    ...(draft.expiration === 'remove' && { expiresAt: null }),
    ...(draft.expiration === 'set' &&
      draft.expiredUrl.trim() !== '' && { expiredUrl: withScheme(draft.expiredUrl) }),
    ...(draft.domain !== '' && { domain: draft.domain }),
    ...(draft.archive !== 'keep' && { archived: draft.archive === 'archive' }),
  }
}
