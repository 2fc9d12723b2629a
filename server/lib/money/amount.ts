// Amounts of money as decimal text, computed exactly: as whole numbers of the currency's smallest unit with two more
// places. No amount is ever a floating-point number.

import { getDecimalPlaces } from './currencies.ts'

/** Prices of parts, such as 0.0125 for a click, have more places than the currency has coins. */
export const EXTRA_PLACES = 2

/** Digits and one point: no sign, no exponent, no separators of thousands, no zeros in front. */
export const AMOUNT_PATTERN = /^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,6})?$/

const getPlaces = (currency: string) => getDecimalPlaces(currency) + EXTRA_PLACES

/** Checks a text that matches AMOUNT_PATTERN. @returns what is wrong with it; undefined where nothing is */
export function findAmountProblem(amount: string, currency: string): string | undefined {
  const places = amount.split('.')[1]?.length ?? 0
  const most = getPlaces(currency)
  return places > most ? `must have at most ${most} decimal places in ${currency}` : undefined
}

/** @param amount is valid in the currency */
export function toSmallestUnits(amount: string, currency: string): bigint {
  const [whole = '0', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(getPlaces(currency), '0'))
}

/** At least the places of the currency: `1299.5` is `1299.50` in EUR, and `1299.505` stays. */
export function toDecimalText(units: bigint, currency: string): string {
  const digits = units.toString().padStart(getPlaces(currency) + 1, '0')
  const point = digits.length - getPlaces(currency)
  const least = getDecimalPlaces(currency)
  const fraction = digits.slice(point).replace(/0+$/, '').padEnd(least, '0')
  return fraction === '' ? digits.slice(0, point) : `${digits.slice(0, point)}.${fraction}`
}

/**
 * The part that one of `count` equal shares has of an amount. The parts of all shares add up to the amount: a share is what
 * all up to it have, minus what those before it have.
 */
export const splitAmount = (units: bigint, index: number, count: number): bigint =>
  (units * BigInt(index + 1)) / BigInt(count) - (units * BigInt(index)) / BigInt(count)
