// The origin of an answer: the days from roll-ups, the days from hits, and the reasons.

/** Reasons to read hits. */
export const RAW_REASONS = [
  /** The engine has no roll-ups. */
  'engine',
  /** No roll-up can answer this question. */
  'question',
  /** The day has not ended, or has not been rolled up yet. */
  'not_rolled_up',
  /** These days have no hits: reading them costs nothing. */
  'no_hits',
  /** The range begins or ends within the day. */
  'edge',
  /** A bucket of the timeline begins within the day. */
  'bucket',
  /** A visitor has two values on this day, and sums would count the visitor twice. */
  'mixed',
  /** Most of the range must be read from hits, and reading all of it at once is faster. */
  'mostly_hits',
  /** The days that must be read from hits are scattered over the range, and reading all of it at once is faster. */
  'scattered',
  /** Adding up the sums needs more memory than there is. */
  'memory',
  /** The roll-ups are damaged, or unreadable now for another reason. */
  'unavailable',
] as const
export type RawReason = (typeof RAW_REASONS)[number]

export const ORIGIN_KINDS = ['months', 'days', 'quarter_hours', 'hits'] as const
export type OriginKind = (typeof ORIGIN_KINDS)[number]

/** A part of the question's range. The parts follow one another and cover the range. */
export interface OriginPart {
  /** Milliseconds since the epoch; `end` is exclusive. */
  start: number
  end: number
  from: OriginKind
  /** Only for parts that were read from hits. */
  why?: RawReason
}

/** @returns the parts with neighbors of one kind and reason joined */
export function joinParts(parts: readonly OriginPart[]): OriginPart[] {
  const joined: OriginPart[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (last && last.end === part.start && last.from === part.from && last.why === part.why)
      last.end = part.end
    else joined.push({ ...part })
  }
  return joined
}
