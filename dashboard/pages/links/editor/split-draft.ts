// A split test while it is edited: the texts in the fields of its variants, and the variants that they become.

import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { withScheme } from './destination-url.ts'

type Variant = NonNullable<LinkResource['split']>[number]

export interface VariantDraft {
  /** Identifies the variant while others come and go. */
  key: number
  url: string
  /** Percent of the visitors. */
  weight: string
  label: string
}

export const VARIANTS_MIN = 2
export const VARIANTS_MAX = 8
const LABELS = 'ABCDEFGH'

let lastKey = 0

export const createVariantDraft = ({ url, weight, label }: Variant): VariantDraft => ({
  key: ++lastKey,
  url,
  weight: String(weight),
  label,
})

export const toVariant = ({ url, weight, label }: VariantDraft) => ({
  url: withScheme(url),
  weight: Number(weight),
  label: label.trim(),
})

export const sumWeights = (split: readonly VariantDraft[]) =>
  split.reduce((sum, { weight }) => sum + Number(weight), 0)

/** Whole weights with a sum of 100; the first ones get the remainder. */
export function withEvenWeights(split: VariantDraft[]): VariantDraft[] {
  const [each, rest] = [Math.floor(100 / split.length), 100 % split.length]
  return split.map((variant, index) => ({ ...variant, weight: String(each + (index < rest ? 1 : 0)) }))
}

export const isEven = (split: VariantDraft[]) =>
  withEvenWeights(split).every(({ weight }, index) => weight === split[index]?.weight)

/** A new test has the destination as its first variant. */
export const createSplitDraft = (destinationUrl: string): VariantDraft[] => [
  createVariantDraft({ url: destinationUrl, weight: 50, label: 'A' }),
  createVariantDraft({ url: '', weight: 50, label: 'B' }),
]

/** Equal weights stay equal. Otherwise the new variant gets the remaining share. */
export function addVariant(split: VariantDraft[]): VariantDraft[] {
  const used = new Set(split.map(({ label }) => label.trim().toUpperCase()))
  const label = [...LABELS].find((letter) => !used.has(letter)) ?? ''
  const rest = Math.max(1, 100 - sumWeights(split))
  const added = [...split, createVariantDraft({ url: '', weight: rest, label })]
  return isEven(split) ? withEvenWeights(added) : added
}

export function removeVariant(split: VariantDraft[], key: number): VariantDraft[] {
  const left = split.filter((variant) => variant.key !== key)
  return isEven(split) ? withEvenWeights(left) : left
}
