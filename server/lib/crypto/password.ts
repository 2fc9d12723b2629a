// Hashes the passwords of people and links: Argon2id with OWASP's minimum cost
// (https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html). Two run at a time, because each
// takes 19 MiB and a core. People and links have separate queues, so that attempts at the password of a link do not
// block sign-ins.

import { lowerPoolPriority } from '../concurrency/pool-priority.ts'
import { unavailable } from '../failure.ts'

const ARGON2 = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
const AT_ONCE = 2
const WAITING_MAX = 50
/** A hash takes about 50 ms, so a full queue needs about 2.5 s, or 5 s if the other queue is full too. */
const WAIT_MS = 10_000

export type PasswordPurpose = 'people' | 'links'

interface Queue {
  running: number
  /** Each starts one hash. */
  waiting: Set<() => void>
}

const createQueue = (): Queue => ({ running: 0, waiting: new Set() })
const queues: Record<PasswordPurpose, Queue> = { people: createQueue(), links: createQueue() }
let lastStarted: PasswordPurpose = 'links'

async function queueHashing<T>(purpose: PasswordPurpose, work: () => Promise<T>): Promise<T> {
  const queue = queues[purpose]
  if (queues.people.running + queues.links.running >= AT_ONCE) await waitForSlot(purpose)
  else queue.running++
  lastStarted = purpose
  try {
    const result = work()
    lowerPoolPriority()
    return await result
  } finally {
    queue.running--
    startNext()
  }
}

/** Refuses immediately if the queue is full, before more work is done. @throws Failure `unavailable` */
export function requirePasswordSlot(purpose: PasswordPurpose): void {
  if (queues[purpose].waiting.size >= WAITING_MAX) throw unavailable('too many passwords at once', 1)
}

function waitForSlot(purpose: PasswordPurpose): Promise<void> {
  requirePasswordSlot(purpose)
  const queue = queues[purpose]
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      queue.waiting.delete(start)
      reject(unavailable('the queue of passwords is too slow', 1))
    }, WAIT_MS)
    const start = () => {
      clearTimeout(timer)
      queue.waiting.delete(start)
      queue.running++
      resolve()
    }
    queue.waiting.add(start)
  })
}

/** The free slot goes to the queue with fewer running hashes; if equal, to the one that did not get the last slot. */
function startNext() {
  const other: PasswordPurpose = lastStarted === 'people' ? 'links' : 'people'
  const byShare = [queues[other], queues[lastStarted]].sort((a, b) => a.running - b.running)
  const next = byShare.find(({ waiting }) => waiting.size > 0)
  if (!next) return
  lastStarted = next === queues.people ? 'people' : 'links'
  const [start] = next.waiting
  start?.()
}

/** @returns undefined and null as they are: "not given" and "no password" */
export async function hashPassword(
  password: string | null | undefined,
  purpose: PasswordPurpose,
): Promise<string | null | undefined> {
  return typeof password === 'string'
    ? queueHashing(purpose, () => Bun.password.hash(password, ARGON2))
    : password
}

export const checkPassword = (password: string, hash: string, purpose: PasswordPurpose) =>
  queueHashing(purpose, () => Bun.password.verify(password, hash))
