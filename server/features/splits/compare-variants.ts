// Compares the variants of a split: the rate of each with its interval, and whether one is better than each other one.

import type { Variant, VariantFigures } from '../links/split/schema.ts'

/** Chance of an error, and the two-sided normal quantile of it. */
const ALPHA = 0.05
const Z = 1.959964

export interface VariantCounts {
  clicks: number
  /** At most as many as clicks: a click that brings two leads counts once in the rate. */
  leads: number
}

/** Wilson's score interval (Wilson 1927, equation 4): it holds for few clicks and for rates near 0, too. */
export function toInterval({ clicks, leads }: VariantCounts): { low: number; high: number } | null {
  if (clicks === 0) return null
  const rate = Math.min(leads, clicks) / clicks
  const center = rate + Z ** 2 / (2 * clicks)
  const spread = Z * Math.sqrt((rate * (1 - rate)) / clicks + Z ** 2 / (4 * clicks ** 2))
  const scale = 1 + Z ** 2 / clicks
  return { low: Math.max(0, (center - spread) / scale), high: Math.min(1, (center + spread) / scale) }
}

/**
 * Logarithm of the evidence that two rates differ: the likelihood of both under a prior of their own (Jeffreys’ Beta), over the
 * highest likelihood that one common rate can have. At equal rates this is an e-process: it reaches 1/α at any time with a
 * probability of at most α, also where people look every day (universal inference: Wasserman, Ramdas and Balakrishnan,
 * PNAS 117 (2020) 16880, section 5).
 */
export function toLogEvidence(a: VariantCounts, b: VariantCounts): number {
  const [leads, misses] = [toLeads(a) + toLeads(b), toMisses(a) + toMisses(b)]
  const common = toLogPower(leads, leads + misses) + toLogPower(misses, leads + misses)
  return toLogMarginal(a) + toLogMarginal(b) - common
}

const toLeads = ({ clicks, leads }: VariantCounts) => Math.min(leads, clicks)
const toMisses = (counts: VariantCounts) => counts.clicks - toLeads(counts)

/** log((part / whole)^part) */
const toLogPower = (part: number, whole: number) => (part === 0 ? 0 : part * Math.log(part / whole))

/** log of the Beta(½, ½) mixture: B(leads + ½, misses + ½) / π */
const toLogMarginal = (counts: VariantCounts) =>
  toLogGamma(toLeads(counts) + 0.5) +
  toLogGamma(toMisses(counts) + 0.5) -
  toLogGamma(counts.clicks + 1) -
  Math.log(Math.PI)

/** Stirling's series (DLMF 5.11.1) after a shift to at least 8: the error is below 1e-9. */
function toLogGamma(x: number): number {
  let [shifted, shift] = [x, 0]
  for (; shifted < 8; shifted++) shift += Math.log(shifted)
  const inverse = 1 / shifted
  const series = inverse / 12 - inverse ** 3 / 360 + inverse ** 5 / 1260 - inverse ** 7 / 1680
  return (shifted - 0.5) * Math.log(shifted) - shifted + Math.log(2 * Math.PI) / 2 + series - shift
}

/**
 * @returns the index of the variant that is better than each other one. The chance that there is one although all are equal is
 * at most 5 %, over all pairs and looks together; undefined where the difference may be chance
 */
export function findBest(counts: readonly VariantCounts[]): number | undefined {
  const pairs = (counts.length * (counts.length - 1)) / 2
  const enough = Math.log(pairs / ALPHA)
  const rate = (each: VariantCounts) => (each.clicks === 0 ? 0 : toLeads(each) / each.clicks)
  const best = counts.findIndex((each) => counts.every((other) => other === each || rate(each) > rate(other)))
  const first = counts[best]
  if (first === undefined) return undefined
  return counts.every((other) => other === first || toLogEvidence(first, other) >= enough) ? best : undefined
}

export const toFigures = ({ label, url, weight }: Variant, counts: VariantCounts): VariantFigures => ({
  label,
  url,
  weight,
  ...counts,
  rate: counts.clicks === 0 ? null : toLeads(counts) / counts.clicks,
  low: toInterval(counts)?.low ?? null,
  high: toInterval(counts)?.high ?? null,
})
