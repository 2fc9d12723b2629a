// Holds some file descriptors in reserve. When the process has no others left, it releases them, so that the socket can
// go on accepting: a server that cannot accept is woken again and again, and does nothing else.

import { closeSync, openSync } from 'node:fs'

export interface DescriptorReserve {
  /** Gives the reserve up where the process has run out of descriptors, and takes it again later. @returns true in between */
  isExhausted(): boolean
  close(): void
}

const SIZE = 16

export function openDescriptorReserve(): DescriptorReserve {
  let kept = takeDescriptors(SIZE)
  return {
    isExhausted() {
      const more = takeDescriptors(SIZE + 1 - kept.length)
      const held = [...kept, ...more]
      // All of the reserve and one more can be had, or all are given up.
      const exhausted = held.length <= SIZE
      kept = exhausted ? [] : held.slice(0, SIZE)
      release(exhausted ? held : held.slice(SIZE))
      return exhausted
    },
    close() {
      release(kept)
      kept = []
    },
  }
}

/** @returns fewer where the system gives no more */
function takeDescriptors(count: number): number[] {
  const taken: number[] = []
  try {
    while (taken.length < count) taken.push(openSync('/dev/null', 'r'))
  } catch {
    // EMFILE: the process has all it may have. ENFILE: the system has none left.
  }
  return taken
}

function release(descriptors: number[]): void {
  for (const descriptor of descriptors) closeSync(descriptor)
}
