// The stored form of a visitor: 48 bits of the visitor's hash, and above them 16 bits of the UTC day. So no two days share a
// visitor, and the visitors of several days are the sum of each day's.

import { DAY_MS } from '../../lib/utc-day.ts'

const HASH_BITS = 48
const DAY_BITS = 16
/** SQL multiplies the day by this, because DuckDB refuses a shift into the highest bit. */
const DAY_UNIT = 2n ** BigInt(HASH_BITS)
const HASH_MASK = DAY_UNIT - 1n
const DAY_MASK = 2n ** BigInt(DAY_BITS) - 1n

/**
 * The visitor as the engines store it. A stored visitor does not change when it is converted again for its day, so hits can
 * come from another engine. `NO_VISITOR` stays `NO_VISITOR`.
 * @param visitor the digits of 64 bits
 * @param at milliseconds since the epoch
 */
export function toStoredVisitor(visitor: string, at: number): string {
  const hash = BigInt(visitor)
  if (hash === 0n) return '0'
  const day = BigInt(Math.trunc(at / DAY_MS))
  return String((hash & HASH_MASK) | ((day & DAY_MASK) * DAY_UNIT))
}

/** The same in DuckDB. @param visitor an UBIGINT @param at a BIGINT */
export const toDuckDbVisitor = (visitor: string, at: string) =>
  `CASE WHEN ${visitor} = 0 THEN 0::UBIGINT ELSE (${visitor} & ${HASH_MASK}::UBIGINT)
    | (((${at} // ${DAY_MS}) & ${DAY_MASK})::UBIGINT * ${DAY_UNIT}::UBIGINT) END`

/** The same in ClickHouse. @param visitor an UInt64 @param at an Int64 */
export const toClickHouseVisitor = (visitor: string, at: string) =>
  `if(${visitor} = 0, toUInt64(0), bitOr(bitAnd(${visitor}, toUInt64(${HASH_MASK})),
    toUInt64(bitAnd(intDiv(${at}, ${DAY_MS}), ${DAY_MASK})) * toUInt64(${DAY_UNIT})))`
