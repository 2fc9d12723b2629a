// Limits on submissions, their bytes and their files, per address and per workspace. Ten submissions a minute may each be
// 1 MiB, so a limit on their number alone does not keep strangers from filling the disk.

import { toRateLimitKey } from '../../../http/client-address.ts'
import { BODY_MAX } from '../../../http/json-body.ts'
import type { BudgetResult } from '../../../lib/sliding-budget.ts'
import type { StorageLimit } from '../../accounts/abuse/storage-limit.ts'
import type { ByteLimiter } from '../../accounts/access/rate-limiter.ts'
import type { ByteBudget } from '../../accounts/access/shared-budget.ts'
import { tooManySubmissions } from './endpoint-error.ts'

const MIB = 1024 ** 2
const GIB = 1024 ** 3

/** An address may send ten submissions a minute to a form (docs/contract.md §7), and each may have the largest size. */
const ADDRESS_BUDGET: ByteBudget = { bytes: 10 * BODY_MAX, windowMs: 60_000 }

const HOUR_MS = 60 * 60 * 1000
/** Fifty thousand usual submissions in an hour. */
const WORKSPACE_BUDGET: ByteBudget = { bytes: 50 * MIB, windowMs: HOUR_MS }
/** Normal submissions pass until twice the budget is used, so that a stranger's long ones cannot close the forms. */
const SMALL_BUDGET: ByteBudget = { bytes: 100 * MIB, windowMs: HOUR_MS }
const SMALL_BYTES = 4 * 1024

/** Thirty files of the largest size in an hour from one office. */
const UPLOADS_OF_ADDRESS: ByteBudget = { bytes: 3 * GIB, windowMs: HOUR_MS }
/** Stored bytes of a workspace: more than half of its usual room in an hour is no rush of people. */
const UPLOADS_OF_WORKSPACE: ByteBudget = { bytes: 6 * GIB, windowMs: HOUR_MS }

/** Undefined where the limits of this machine have answered at once: most requests wait for nothing. */
type Spending = Promise<void> | undefined

/** @throws EndpointError 429 */
export function spendAddressBytes(limiter: ByteLimiter, address: string, bytes: number): Spending {
  if (bytes <= 0) return undefined
  return spend(limiter, `form bytes from ${toRateLimitKey(address)}`, bytes, ADDRESS_BUDGET)
}

/** Counts one submission of the day, and its bytes. @throws EndpointError 429 */
export function spendWorkspaceRoom(
  { limiter, submissionLimit }: { limiter: ByteLimiter; submissionLimit: StorageLimit },
  workspaceId: number,
  bytes: number,
): Spending {
  requireAllowed(submissionLimit.take(workspaceId))
  const budget = bytes <= SMALL_BYTES ? SMALL_BUDGET : WORKSPACE_BUDGET
  return spend(limiter, `form bytes for ${workspaceId}`, bytes, budget, () =>
    submissionLimit.noteReached(workspaceId),
  )
}

/** Counts bytes of files that have come, whether they will be stored or not. @throws EndpointError 429 */
export const spendUploadBytes = (limiter: ByteLimiter, address: string, bytes: number): Spending =>
  spend(limiter, `upload bytes from ${toRateLimitKey(address)}`, bytes, UPLOADS_OF_ADDRESS)

/** Counts bytes of files that are about to be stored. @throws EndpointError 429 */
export const spendWorkspaceUploads = (
  { limiter, uploadLimit }: { limiter: ByteLimiter; uploadLimit: Pick<StorageLimit, 'noteReached'> },
  workspaceId: number,
  bytes: number,
): Spending =>
  spend(limiter, `upload bytes for ${workspaceId}`, bytes, UPLOADS_OF_WORKSPACE, () =>
    uploadLimit.noteReached(workspaceId),
  )

/** The size that a request says it has; 0 where it says none, and for a body that is refused unread. */
export function toDeclaredBytes(headers: Pick<Headers, 'get'>): number {
  const length = headers.get('content-length') ?? ''
  return /^\d+$/.test(length) && Number(length) <= BODY_MAX ? Number(length) : 0
}

function spend(
  limiter: ByteLimiter,
  key: string,
  bytes: number,
  budget: ByteBudget,
  onRefused = () => {},
): Spending {
  const require = (result: BudgetResult) => {
    if (!result.allowed) onRefused()
    requireAllowed(result)
  }
  const result = limiter.spend(key, bytes, budget)
  return result instanceof Promise ? result.then(require) : void require(result)
}

function requireAllowed({ allowed, waitMs }: BudgetResult): void {
  if (!allowed) throw tooManySubmissions(waitMs)
}
