// Numbers features by an HMAC, so that the database has no words of senders. There are 131,072 numbers: the lessons of a
// workspace are bounded, and can always be taken back exactly, because nothing is ever pruned.

import { createHmac } from 'node:crypto'

export const FEATURE_NUMBERS = 2 ** 17

export type FeatureNumbers = (name: string) => number

/** @returns the numbers of one workspace: the same word has another number in another workspace */
export function createFeatureNumbers(secret: string, workspaceId: number): FeatureNumbers {
  const key = createHmac('sha256', secret).update(`towpath spam ${workspaceId}`).digest()
  const keyed = new Bun.CryptoHasher('sha256', key)
  return (name) => keyed.copy().update(name).digest().readUInt32BE(0) % FEATURE_NUMBERS
}

export type Verdict = 'spam' | 'good'

/** The lessons of one submission: exactly these are taken back. */
export interface Lesson {
  verdict: Verdict
  numbers: number[]
}

/** Three bytes a number, in base64. */
export function encodeLesson({ verdict, numbers }: Lesson): string {
  const bytes = Buffer.alloc(numbers.length * 3)
  for (const [i, number] of numbers.entries()) bytes.writeUIntBE(number, i * 3, 3)
  return `${verdict} ${bytes.toString('base64')}`
}

/** @returns undefined for null, and for a damaged text */
export function decodeLesson(text: string | null): Lesson | undefined {
  const [, verdict, base64 = ''] = /^(spam|good) (.*)$/.exec(text ?? '') ?? []
  if (verdict === undefined) return undefined
  const bytes = Buffer.from(base64, 'base64')
  const numbers: number[] = []
  for (let at = 0; at + 3 <= bytes.length; at += 3) numbers.push(bytes.readUIntBE(at, 3))
  return { verdict: verdict as Verdict, numbers }
}
