// Spam settings of a new form.

import type { SpamSettings } from './schema.ts'

export const NO_SPAM_RULES: SpamSettings = {
  words: [],
  emails: [],
  domains: [],
  maxLinks: null,
  learn: false,
}
export const DEFAULT_SPAM_RETENTION_DAYS = 30
