// The name of a form in its page's `action`.

import { randomFrom } from '../../../lib/random.ts'

/** As slugs: no 0/o, 1/l/i. */
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'
const LENGTH = 10

export const FORM_KEY = /^[2-9a-hjkmnp-z]{10}$/

export const newFormKey = () => randomFrom(ALPHABET, LENGTH)
