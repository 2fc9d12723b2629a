// Sets options of a listening socket that the runtime has no call for. Accepted connections inherit them (Linux: tcp(7),
// socket(7)). They are a help of the kernel: the server works without them, as it does on other systems.

import { dlopen } from 'bun:ffi'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { describeError, log } from '../../lib/log.ts'

/**
 * As much of an answer waits in the kernel, and it says when a third is gone: over a way of 3 KB a second that is in
 * time. Over a way of 100 ms it lets 2 MB a second through. Linux doubles it, for its own bookkeeping.
 */
const SEND_BUFFER_BYTES = 128 * 1024

// Linux: include/uapi/linux/tcp.h, include/uapi/asm-generic/socket.h.
const [IPPROTO_TCP, TCP_USER_TIMEOUT, SOL_SOCKET, SO_SNDBUF] = [6, 18, 1, 7]

/**
 * Bounds what the kernel keeps for a client that does not take it.
 * @param port that this process listens on
 * @param untakenMs after so long the kernel ends such a connection, one that this process has closed, too
 */
export function setListenerOptions(port: number, untakenMs?: number): void {
  if (process.platform !== 'linux') return
  try {
    const library = dlopen('libc.so.6', {
      setsockopt: { args: ['i32', 'i32', 'i32', 'ptr', 'u32'], returns: 'i32' },
    })
    for (const descriptor of findListeners(port)) {
      const set = (level: number, name: number, value: number) =>
        library.symbols.setsockopt(descriptor, level, name, new Int32Array([value]), 4)
      set(SOL_SOCKET, SO_SNDBUF, SEND_BUFFER_BYTES)
      if (untakenMs !== undefined) set(IPPROTO_TCP, TCP_USER_TIMEOUT, untakenMs)
    }
  } catch (error) {
    log.warn('socket_options_not_set', { error: describeError(error).error })
  }
}

/** @returns the descriptors of this process that listen on the port (Linux: proc_net_tcp, proc_pid_fd) */
function findListeners(port: number): number[] {
  const inodes = new Set(['tcp', 'tcp6'].flatMap((table) => listInodes(table, port)))
  return readdirSync('/proc/self/fd')
    .filter((name) => {
      try {
        const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${name}`))?.[1]
        return inode !== undefined && inodes.has(inode)
      } catch {
        return false // the one that read the directory
      }
    })
    .map(Number)
}

/** `TCP_LISTEN` */
const LISTENING = '0A'

function listInodes(table: string, port: number): string[] {
  const ending = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return readTable(table)
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(ending) && state === LISTENING)
    .map((columns) => columns[9] ?? '')
}

function readTable(table: string): string {
  try {
    return readFileSync(`/proc/self/net/${table}`, 'utf8')
  } catch {
    return '' // a system without IPv6
  }
}
