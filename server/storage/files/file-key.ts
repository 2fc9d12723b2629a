// The name of a file in the file store.

import { randomBytes } from 'node:crypto'
import { toUtcDay } from '../../lib/utc-day.ts'

/** With the UTC day, so that a sweep of the last days lists little; the rest cannot be guessed. */
export const newFileKey = (at: number) => `${toUtcDay(at)}/${randomBytes(16).toString('hex')}`

/** Nothing else may reach a store: a key from anywhere else could be a path. */
export const FILE_KEY = /^\d{4}-\d{2}-\d{2}\/[0-9a-f]{32}$/
