// Supervises one upload while it is received: its slot, the hourly budget of its address, and the room on the disk.

import { toRateLimitKey } from '../../../http/client-address.ts'
import type { DiskSpace } from '../../../storage/disk-space.ts'
import type { FileStore } from '../../../storage/files/file-store.ts'
import type { ByteLimiter } from '../../accounts/access/rate-limiter.ts'
import type { ReceivingSlot, ReceivingSlots, StopReason } from '../uploads/receiving-slots.ts'
import { spendUploadBytes } from './byte-budgets.ts'
import { EndpointError, tooManySubmissions } from './endpoint-error.ts'

export interface UploadWatchNeeds {
  limiter: ByteLimiter
  disk: Pick<DiskSpace, 'hasRoomFor'>
  uploads: { store: Pick<FileStore, 'isShared'>; slots: Pick<ReceivingSlots, 'take'> }
}

const RETRY_AFTER_SECONDS = 30
/** Bytes are paid for in steps: with PostgreSQL each payment is a query. */
const STEP_BYTES = 1024 * 1024

export type UploadWatch = ReturnType<typeof createUploadWatch>

export function createUploadWatch({ limiter, disk, uploads }: UploadWatchNeeds, address: string) {
  let slot: ReceivingSlot | undefined
  let received = 0
  let paid = 0
  return {
    /** The server waits for the client. */
    waits: () => slot?.waits(),
    /** More bytes have arrived. @throws EndpointError 429 where the address has sent enough */
    async received(bytes: number): Promise<void> {
      slot?.received(bytes)
      received += bytes
      if (received <= paid) return
      const step = Math.ceil((received - paid) / STEP_BYTES) * STEP_BYTES
      await spendUploadBytes(limiter, address, step)
      paid += step
    },
    /** Before the first file, and while it comes. @throws EndpointError 503 where the disk has no room */
    requireRoom(bytes: number): void {
      if (uploads.store.isShared || disk.hasRoomFor(bytes)) return
      throw new EndpointError(503, 'Temporarily unavailable', 2 * RETRY_AFTER_SECONDS)
    },
    /** The first file begins. @throws EndpointError 429 where too many are received already */
    begins(stop: (reason: StopReason) => void): void {
      slot = uploads.slots.take(toRateLimitKey(address), stop)
      if (!slot) throw tooManySubmissions(RETRY_AFTER_SECONDS * 1000)
    },
    release: () => slot?.release(),
  }
}
