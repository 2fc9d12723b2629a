// Reads the stored spam rules of a form. Equal texts share one value and its parsed form (check-rules.ts).

import { createGenerations } from '../../../lib/generations.ts'
import type { SpamSettings } from './schema.ts'
import { NO_SPAM_RULES } from './spam-defaults.ts'

/** A letter of a rule is about 60 bytes, once the rules are compiled. */
const BYTES_OF_LETTER = 60
const CACHE = createGenerations<SpamSettings>({
  entriesMax: 1000,
  bytesMax: 32 * 1024 * 1024,
  weigh: (text) => text.length * BYTES_OF_LETTER,
})

export function readSpamSettings(text: string | null): SpamSettings {
  if (text === null) return NO_SPAM_RULES
  const cached = CACHE.get(text)
  if (cached) return cached
  const settings: SpamSettings = JSON.parse(text)
  CACHE.set(text, settings)
  return settings
}
