// Settings of a new form.

import type { SpamSettings } from '../spam/schema.ts'

/**
 * Where a browser goes after a native submission: back to the Referer, as for every form that names nothing else, or to
 * a page of this server.
 */
export const RETURN_MODES = ['referer', 'hosted'] as const
export type ReturnMode = (typeof RETURN_MODES)[number]
export const DEFAULT_RETURN_MODE: ReturnMode = 'referer'

/** Submissions a minute from one address. */
export const DEFAULT_PER_ADDRESS = 10

export const NO_SPAM_RULES: SpamSettings = {
  words: [],
  emails: [],
  domains: [],
  maxLinks: null,
  learn: false,
}
export const DEFAULT_SPAM_RETENTION_DAYS = 30
