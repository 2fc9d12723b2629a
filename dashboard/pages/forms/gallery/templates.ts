// The styled forms of the gallery: their texts and fields. A form's own settings add fields and limits.

import type { KnownInput } from '../form-controls.ts'

export const TEMPLATE_IDS = ['contact', 'newsletter', 'booking'] as const
export type TemplateId = (typeof TEMPLATE_IDS)[number]

export interface FormTemplate {
  id: TemplateId
  label: string
  title: string
  text: string
  button: string
  /** Fields of one array are placed in one row where there is room. */
  fields: (string | string[])[]
}

export const FORM_TEMPLATES: FormTemplate[] = [
  {
    id: 'contact',
    label: 'Contact',
    title: 'Contact us',
    text: 'Tell us how we can help.',
    button: 'Send message',
    fields: [['name', 'email'], 'message'],
  },
  {
    id: 'newsletter',
    label: 'Newsletter',
    title: 'Newsletter',
    text: 'Get our news by email.',
    button: 'Subscribe',
    fields: ['email'],
  },
  {
    id: 'booking',
    label: 'Booking',
    title: 'Book an appointment',
    text: 'Choose a day and a time. We’ll confirm by email.',
    button: 'Request booking',
    fields: [['name', 'email'], ['date', 'time'], ['phone', 'guests'], 'message'],
  },
]

const complete = (token: string, type?: string): KnownInput => ({
  type,
  attributes: [`autocomplete="${token}"`],
})

/** By name, ignoring case and punctuation. The tokens are those of the HTML standard (autofill). */
const KNOWN_INPUTS: Record<string, KnownInput> = {
  name: complete('name'),
  fullname: complete('name'),
  firstname: complete('given-name'),
  lastname: complete('family-name'),
  email: complete('email', 'email'),
  phone: complete('tel', 'tel'),
  tel: complete('tel', 'tel'),
  company: complete('organization'),
  organization: complete('organization'),
  website: complete('url', 'url'),
  date: { type: 'date' },
  time: { type: 'time' },
  guests: { type: 'number', attributes: ['min="1"', 'max="20"', 'inputmode="numeric"'] },
}

export function findKnownInput(name: string): KnownInput | undefined {
  const key = name.toLowerCase().replace(/[^a-z]/g, '')
  return Object.hasOwn(KNOWN_INPUTS, key) ? KNOWN_INPUTS[key] : undefined
}
