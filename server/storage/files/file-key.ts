// The name of a file in the file store.

import { createHash, randomBytes } from 'node:crypto'
import { toUtcDay } from '../../lib/utc-day.ts'

const OWNER_LENGTH = 8

/**
 * The prefix of an installation's keys, after their day. By this prefix a sweep deletes no file of another installation: two
 * can share a bucket by mistake, and a wrong DATABASE_URL is another installation too.
 * @param instance the name of the installation
 */
export const toFileOwner = (instance: string): string =>
  createHash('sha256').update(`towpath files ${instance}`).digest('hex').slice(0, OWNER_LENGTH)

/** Begins with the UTC day, so that a sweep of the last days lists few files. The last 24 characters cannot be guessed. */
export const newFileKey = (at: number, owner: string) =>
  `${toUtcDay(at)}/${owner}${randomBytes(12).toString('hex')}`

/** @param key of a file or of its draft */
export const isOwnFile = (key: string, owner: string) => key.startsWith(owner, key.indexOf('/') + 1)

/** A store accepts only such keys, because any other text could be a path. */
export const FILE_KEY = /^\d{4}-\d{2}-\d{2}\/[0-9a-f]{32}$/
