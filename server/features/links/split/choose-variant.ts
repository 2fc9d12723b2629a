// Chooses the variant of a split for a visitor. The same visitor gets the same variant for a day, without a cookie.

import type { Variant } from './schema.ts'

const digest = new Uint8Array(32)
const view = new DataView(digest.buffer)

export interface SplitVisitor {
  linkId: number
  address: string
  userAgent: string
}

/**
 * Weights are exact in the long run: the first 32 bits of a keyed hash are a point, and the weights share the line.
 * @param salt of the day, which is destroyed after it @returns an index
 */
export function chooseVariant(variants: readonly Variant[], visitor: SplitVisitor, salt: string): number {
  Bun.SHA256.hash(`${salt}split|${visitor.linkId}|${visitor.address}|${visitor.userAgent}`, digest)
  let point = (view.getUint32(0) / 2 ** 32) * 100
  for (let index = 0; index < variants.length - 1; index++) {
    point -= variants[index]?.weight ?? 0
    if (point < 0) return index
  }
  return variants.length - 1
}
