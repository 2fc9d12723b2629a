// Slots for uploads in progress: few enough for the memory. When all are taken, a newcomer gets the slot of the slowest
// upload, so nobody can hold them by sending slowly.

/** Their buffers together stay below the memory of a page of the dashboard. */
const SLOTS = 64
/** A person has one or two; an office behind one address, some. */
const SLOTS_OF_ADDRESS = 20
/** An upload may wait this long for its client before its speed is looked at. */
const GRACE_MS = 30_000
/** A phone with hardly any network sends 100 MiB in seven hours at this speed: anything slower is no upload. */
const BYTES_PER_SECOND_MIN = 4 * 1024
/**
 * A slower upload gives its place to a newcomer when all are taken. Twenty faster ones of one address use its budget of an hour
 * up (`endpoint/byte-budgets.ts`).
 */
const SLOW_BYTES_PER_SECOND = 64 * 1024
const CHECK_EVERY_MS = 1_000

export type StopReason = 'too slow' | 'replaced'

export interface ReceivingSlot {
  /** The server waits for the client from now on. */
  waits(): void
  /** The client has sent more bytes. */
  received(bytes: number): void
  release(): void
}

interface SlotState {
  address: string
  bytes: number
  /** Only the time spent waiting for the client, so that a slow disk does not count against it. */
  waitedMs: number
  waitsSince: number | undefined
  stop: (reason: StopReason) => void
}

export interface ReceivingSlots {
  /** @returns undefined where the address has too many, or all are taken and none is slow */
  take(address: string, stop: (reason: StopReason) => void): ReceivingSlot | undefined
  count(): number
  /** The number of uploads that were ended because they were too slow. */
  stopped(): number
  close(): void
}

/** @param options.clock monotonic milliseconds */
export function createReceivingSlots({
  clock = () => performance.now(),
  slotsMax = SLOTS,
}: {
  clock?: () => number
  slotsMax?: number
} = {}): ReceivingSlots {
  const slots = new Set<SlotState>()
  let timer: Timer | undefined
  let stopped = 0

  const waitedMs = (slot: SlotState) =>
    slot.waitedMs + (slot.waitsSince === undefined ? 0 : clock() - slot.waitsSince)
  const perSecond = (slot: SlotState) => (slot.bytes / Math.max(1, waitedMs(slot))) * 1000

  function release(slot: SlotState) {
    slots.delete(slot)
    if (slots.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  function stop(slot: SlotState, reason: StopReason) {
    stopped++
    release(slot)
    slot.stop(reason)
  }

  function stopSlow() {
    for (const slot of slots)
      if (waitedMs(slot) > GRACE_MS && perSecond(slot) < BYTES_PER_SECOND_MIN) stop(slot, 'too slow')
  }

  function replaceSlowest(): boolean {
    const slow = [...slots].filter(
      (slot) => waitedMs(slot) > GRACE_MS && perSecond(slot) < SLOW_BYTES_PER_SECOND,
    )
    const slowest = slow.sort((a, b) => perSecond(a) - perSecond(b))[0]
    if (slowest) stop(slowest, 'replaced')
    return slowest !== undefined
  }

  return {
    take(address, onStop) {
      stopSlow()
      if ([...slots].filter((slot) => slot.address === address).length >= SLOTS_OF_ADDRESS) return undefined
      if (slots.size >= slotsMax && !replaceSlowest()) return undefined
      const slot: SlotState = { address, bytes: 0, waitedMs: 0, waitsSince: undefined, stop: onStop }
      slots.add(slot)
      timer ??= setInterval(stopSlow, CHECK_EVERY_MS)
      return {
        waits() {
          slot.waitsSince = clock()
        },
        received(bytes) {
          slot.waitedMs = waitedMs(slot)
          slot.waitsSince = undefined
          slot.bytes += bytes
        },
        release: () => release(slot),
      }
    },
    count: () => slots.size,
    stopped: () => stopped,
    close: () => clearInterval(timer),
  }
}
