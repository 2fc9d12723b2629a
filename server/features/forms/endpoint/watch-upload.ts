// Supervises one upload while it is received: its slot, the hourly budget of its address, and the
// room on the disk.

import { toRateLimitKey } from '../../../http/client-address.ts'
import type { DiskSpace } from '../../../storage/disk-space.ts'
import type { FileStore } from '../../../storage/files/file-store.ts'
import type { ByteLimiter } from '../../accounts/access/rate-limiter.ts'
import type { ReceivingSlot, ReceivingSlots } from '../uploads/receiving-slots.ts'
import { spendUploadBytes } from '../uploads/upload-budgets.ts'
import { EndpointError, tooManySubmissions } from './endpoint-error.ts'
import type { UploadWatch } from './receive-form.ts'

export interface UploadWatchNeeds {
  limiter: ByteLimiter
  disk: Pick<DiskSpace, 'hasRoomFor'>
  uploads: { store: Pick<FileStore, 'isShared'>; slots: Pick<ReceivingSlots, 'take'> }
}

const RETRY_AFTER_SECONDS = 30
/** Bytes are paid for in steps: with PostgreSQL each payment is a query. */
const STEP_BYTES = 1024 * 1024

export function createUploadWatch(
  { limiter, disk, uploads }: UploadWatchNeeds,
  address: string,
): UploadWatch & { release(): void } {
  let slot: ReceivingSlot | undefined
  let received = 0
  let paid = 0
  return {
    waits: () => slot?.waits(),
    async received(bytes) {
      slot?.received(bytes)
      received += bytes
      if (received <= paid) return
      const step = Math.ceil((received - paid) / STEP_BYTES) * STEP_BYTES
      const { allowed, waitMs } = await spendUploadBytes(limiter, address, step)
      if (!allowed) throw tooManySubmissions(waitMs)
      paid += step
    },
    requireRoom(bytes) {
      if (uploads.store.isShared || disk.hasRoomFor(bytes)) return
      throw new EndpointError(503, 'Temporarily unavailable', 2 * RETRY_AFTER_SECONDS)
    },
    begins(stop) {
      slot = uploads.slots.take(toRateLimitKey(address), stop)
      if (!slot) throw tooManySubmissions(RETRY_AFTER_SECONDS * 1000)
    },
    release: () => slot?.release(),
  }
}
