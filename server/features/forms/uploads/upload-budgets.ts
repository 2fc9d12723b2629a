// Limits on the bytes of files that strangers upload per hour. Separate from those of a form's fields
// (`endpoint/byte-budgets.ts`), which are too small for files.

import { toRateLimitKey } from '../../../http/client-address.ts'
import type { ByteBudget, ByteLimiter } from '../../accounts/access/rate-limiter.ts'

const GIB = 1024 ** 3
const HOUR_MS = 60 * 60 * 1000

/** Thirty files of the largest size in an hour from one office. */
const ADDRESS_BUDGET: ByteBudget = { bytes: 3 * GIB, windowMs: HOUR_MS }
/** Stored bytes of a workspace: more than half of its usual room in an hour is no rush of people. */
const WORKSPACE_BUDGET: ByteBudget = { bytes: 6 * GIB, windowMs: HOUR_MS }

/** Counts bytes that have come, whether they will be stored or not. */
export const spendUploadBytes = (limiter: ByteLimiter, address: string, bytes: number) =>
  limiter.spend(`upload bytes from ${toRateLimitKey(address)}`, bytes, ADDRESS_BUDGET)

/** Counts bytes that are about to be stored. */
export const spendWorkspaceUploads = (limiter: ByteLimiter, workspaceId: number, bytes: number) =>
  limiter.spend(`upload bytes for ${workspaceId}`, bytes, WORKSPACE_BUDGET)
