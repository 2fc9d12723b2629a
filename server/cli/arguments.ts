// Parses the arguments and options of commands. Each function throws a CommandError with the problem.

import { EmailAddress } from '../features/accounts/schema.ts'
import { KEY_SCOPES, type KeyScope } from '../http/key-scope.ts'
import { parseDateRange } from '../lib/date-range.ts'
import { PLANS, type Plan } from '../lib/plan.ts'
import { ROLES, type Role } from '../lib/role.ts'
import { isCleanText } from '../lib/text.ts'
import { DAY_MS } from '../lib/utc-day.ts'
import { CommandError } from './command.ts'

/** @param owner what gets the name, such as `A workspace` */
export function parseName(text: string, owner: string): string {
  const name = text.trim()
  if (name !== '' && name.length <= 100) return name
  throw new CommandError(`${owner} needs a name of 1 to 100 characters.`)
}

/** @param argument such as `--workspace` */
export function parseIdArgument(text: string | undefined, argument: string): number {
  if (text && /^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw new CommandError(`${argument} must be a whole number.`)
}

export function parseEmail(text: string | undefined): string {
  const email = EmailAddress.safeParse(text)
  if (email.success) return email.data
  throw new CommandError('A user is named by an email address.')
}

export function parseRole(text: string | undefined): Role | undefined {
  const role = ROLES.find((known) => known === text?.toLowerCase())
  if (role || text === undefined) return role
  throw new CommandError(`A role is one of ${ROLES.join(', ')}.`)
}

const REASON_MAX = 500

/** The reason of a suspension, which its owner sees. */
export function parseReason(text: string | undefined): string | null {
  const reason = text?.trim()
  if (reason === undefined) return null
  if (reason !== '' && reason.length <= REASON_MAX && isCleanText(reason)) return reason
  throw new CommandError(`--reason must be 1 to ${REASON_MAX} characters.`)
}

export function parsePlan(text: string | undefined): Plan {
  const plan = PLANS.find((known) => known === text?.toLowerCase())
  if (plan) return plan
  throw new CommandError(`A plan is one of ${PLANS.join(', ')}.`)
}

/** @param text scopes separated by commas */
export function parseScopes(text: string | undefined): KeyScope[] | undefined {
  if (text === undefined) return undefined
  const known: readonly KeyScope[] = ['*', ...KEY_SCOPES]
  const words = text.split(',').map((word) => word.trim())
  return words.map((word) => {
    const scope = known.find((each) => each === word)
    if (scope) return scope
    throw new CommandError(`A scope is one of ${known.join(', ')}.`)
  })
}

/** @param text a date, an instant, or a number of days such as `30d` @returns milliseconds; null for never */
export function parseExpiry(text: string | undefined, now: number): number | null {
  if (text === undefined) return null
  const days = /^([1-9]\d{0,4})d$/.exec(text)?.[1]
  const at = days === undefined ? parseDateRange(text)?.end : now + Number(days) * DAY_MS
  if (at === undefined) throw new CommandError('--expires is a date such as 2027-01-31, or days such as 30d.')
  if (at <= now) throw new CommandError('--expires must be in the future.')
  return at
}
