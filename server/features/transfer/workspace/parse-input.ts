// Validates the records of an archive by the rules of the API.

import type { z } from 'zod'
import { invalid } from '../../../lib/failure.ts'

/** @throws Failure `invalid`, with the first wrong field */
export function parseInput<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw invalid({ [issue?.path.join('.') ?? '']: issue?.message ?? 'is wrong' })
}
