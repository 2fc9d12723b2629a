// The form key: the name of a form in its endpoint's URL, `/f/{formKey}`.

import { randomFrom } from '../../../lib/crypto/random.ts'

/** Without 0/o and 1/l/i, which people confuse. Random slugs use the same characters. */
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'
const LENGTH = 10

export const FORM_KEY = /^[2-9a-hjkmnp-z]{10}$/

export const newFormKey = () => randomFrom(ALPHABET, LENGTH)
