// The requests in flight, in memory that a thread of the server reads while the event loop is blocked
// (docs/adr/0061-watchdog.md). Nothing is written before `openBoard`.

/** The newest requests: the next one takes the place of the oldest. */
const SLOTS = 128
const [TEXT_BYTES, SLOT_NUMBERS] = [256, 4]
const HEAD_NUMBERS = 8
/** Places in the head. */
const [BEATS, RUNNING, FAST_BYTES, STALLS] = [0, 1, 2, 3]
const NUMBERS_AT = HEAD_NUMBERS * 8
const TEXTS_AT = NUMBERS_AT + SLOTS * SLOT_NUMBERS * 8
const FAST_AT = TEXTS_AT + SLOTS * TEXT_BYTES
const BYTES = FAST_AT + TEXT_BYTES

export interface BoardRequest {
  /** Without one on the fast path. */
  id?: string
  method: string
  path: string
  /** The declared size of its body; on the fast path, the size of the request. */
  bytes: number
  /** On the clock of `readClock`. */
  startedAt: number
}

interface Board {
  head: Int32Array
  numbers: Float64Array
  texts: Buffer
}

const viewBoard = (memory: SharedArrayBuffer): Board => ({
  head: new Int32Array(memory, 0, HEAD_NUMBERS),
  numbers: new Float64Array(memory, NUMBERS_AT, SLOTS * SLOT_NUMBERS),
  texts: Buffer.from(memory),
})

let board: Board | undefined
let posted = 0

/** Milliseconds on a monotonic clock that all threads of the process share. */
export const readClock = () => performance.timeOrigin + performance.now()

/** Records requests of this process from now on. */
export function openBoard(): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(BYTES)
  board = viewBoard(memory)
  return memory
}

export function closeBoard(): void {
  board = undefined
}

/** @returns the number of the request on the board; 0 without a board */
export function postRequest(request: Omit<BoardRequest, 'startedAt'>): number {
  if (!board) return 0
  const number = ++posted
  const slot = number % SLOTS
  const text = `${request.method} ${request.id} ${request.path}`
  const length = board.texts.write(text, TEXTS_AT + slot * TEXT_BYTES, TEXT_BYTES, 'latin1')
  board.numbers.set([number, readClock(), request.bytes, length], slot * SLOT_NUMBERS)
  return number
}

export function removeRequest(number: number): void {
  if (!board || number === 0) return
  const at = (number % SLOTS) * SLOT_NUMBERS
  if (board.numbers[at] === number) board.numbers[at] = 0
  if (board.head[RUNNING] === number) board.head[RUNNING] = 0
}

/** The request runs on the event loop, until another request or the next beat. */
export function setRunning(number: number): void {
  if (board && number !== 0) board.head[RUNNING] = number
}

/** The fast path runs this request on the event loop. Each nanosecond here delays redirects. */
export function enterFastPath(chunk: Buffer): void {
  if (!board) return
  chunk.copy(board.texts, FAST_AT, 0, TEXT_BYTES)
  board.head[FAST_BYTES] = chunk.length
}

export function leaveFastPath(): void {
  if (board) board.head[FAST_BYTES] = 0
}

/** A beat of the event loop. @returns the number of stalls that the thread has detected so far */
export function beat(): number {
  if (!board) return 0
  board.head[RUNNING] = 0
  board.head[FAST_BYTES] = 0
  Atomics.add(board.head, BEATS, 1)
  return Atomics.load(board.head, STALLS)
}

export interface BoardReader {
  readBeats(): number
  /** Counts a stall. */
  addStall(): void
  /** The request that ran last since the last beat, if any, and the others in flight, newest first. */
  readRequests(): { running: BoardRequest | undefined; others: BoardRequest[] }
}

/** For the thread. */
export function readBoard(memory: SharedArrayBuffer): BoardReader {
  const { head, numbers, texts } = viewBoard(memory)
  const readText = (at: number, length: number) =>
    texts.toString('latin1', at, at + Math.min(length, TEXT_BYTES))
  const readSlot = (number: number): BoardRequest => {
    const slot = number % SLOTS
    const [, startedAt = 0, bytes = 0, length = 0] = numbers.subarray(slot * SLOT_NUMBERS)
    const [method = '', id = '', ...path] = readText(TEXTS_AT + slot * TEXT_BYTES, length).split(' ')
    return { id, method, path: path.join(' '), bytes, startedAt }
  }
  const readFastPath = (): BoardRequest | undefined => {
    const bytes = head[FAST_BYTES] ?? 0
    if (bytes === 0) return undefined
    const [method = '', path = ''] = readText(FAST_AT, bytes).split(/[ \r\n]/)
    return { method, path, bytes, startedAt: 0 }
  }
  return {
    readBeats: () => Atomics.load(head, BEATS),
    addStall: () => void Atomics.add(head, STALLS, 1),
    readRequests() {
      const running = head[RUNNING] ?? 0
      const isThere = (number: number) => number > 0 && numbers[(number % SLOTS) * SLOT_NUMBERS] === number
      const others = Array.from({ length: SLOTS }, (_, slot) => numbers[slot * SLOT_NUMBERS] ?? 0)
        .filter((number) => number > 0 && number !== running)
        .sort((a, b) => b - a)
      return {
        running: readFastPath() ?? (isThere(running) ? readSlot(running) : undefined),
        others: others.map(readSlot),
      }
    },
  }
}
