// Hashes the passwords of people and links: Argon2id with OWASP's minimum cost
// (https://cheatsheetseries.owasp.org/cheatsheets/Password_Storage_Cheat_Sheet.html). Two run at a time, because each
// takes 19 MiB and a core.

import { unavailable } from '../failure.ts'

const ARGON2 = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const
const AT_ONCE = 2
const WAITING_MAX = 50

let running = 0
const waiting: (() => void)[] = []

async function queueHashing<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= WAITING_MAX) throw unavailable(new Error('too many passwords at once'), 1)
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else {
    running++
  }
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    // The next one in the queue takes this slot, so that no later call can take it first.
    if (next) next()
    else running--
  }
}

/** @returns undefined and null as they are: "not given" and "no password" */
export async function hashPassword(password: string | null | undefined): Promise<string | null | undefined> {
  return typeof password === 'string' ? queueHashing(() => Bun.password.hash(password, ARGON2)) : password
}

export const checkPassword = (password: string, hash: string) =>
  queueHashing(() => Bun.password.verify(password, hash))
