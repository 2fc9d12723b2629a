// The made-up company of the demo: a coffee roastery with a shop, workshops and wholesale customers.

import type { TagResource } from '../../features/links/schema.ts'

export const COMPANY = 'Larkfield Coffee'
export const SITE = 'https://www.example.com'

export type MarketingChannel =
  | 'newsletter'
  | 'instagram'
  | 'facebook'
  | 'linkedin'
  | 'tiktok'
  | 'youtube'
  | 'search ad'
  | 'social ad'
  | 'podcast'
  | 'poster'
  | 'partner'
  | 'support'

export type FormName = 'newsletter' | 'workshop' | 'wholesale' | 'contact'

export const TAGS: [name: string, color: TagResource['color']][] = [
  ['Newsletter', 'blue'],
  ['Social', 'pink'],
  ['Ads', 'orange'],
  ['QR posters', 'teal'],
  ['Partners', 'purple'],
  ['Spring blend', 'green'],
  ['Workshops', 'yellow'],
  ['Wholesale', 'red'],
]

/** The utm source and medium of a channel's links. Posters and support links have none. */
export const CHANNEL_SOURCES: Record<MarketingChannel, [source: string, medium: string] | undefined> = {
  newsletter: ['newsletter', 'email'],
  instagram: ['instagram', 'social'],
  facebook: ['facebook', 'social'],
  linkedin: ['linkedin', 'social'],
  tiktok: ['tiktok', 'social'],
  youtube: ['youtube', 'video'],
  'search ad': ['google', 'cpc'],
  'social ad': ['meta', 'paid_social'],
  podcast: ['podcast', 'audio'],
  poster: ['poster', 'qr'],
  partner: ['partner', 'referral'],
  support: undefined,
}

/** The tag of a channel's links. */
export const CHANNEL_TAGS: Record<MarketingChannel, string | undefined> = {
  newsletter: 'Newsletter',
  instagram: 'Social',
  facebook: 'Social',
  linkedin: 'Social',
  tiktok: 'Social',
  youtube: 'Social',
  'search ad': 'Ads',
  'social ad': 'Ads',
  podcast: 'Ads',
  poster: 'QR posters',
  partner: 'Partners',
  support: undefined,
}

export interface DemoForm {
  name: string
  page: string
  requiredFields: string[]
  successMessage: string
  fieldLabels: Record<string, string>
  replyTemplates?: { name: string; subject: string; text: string }[]
  /** How many of a hundred leads come through this form. */
  share: number
}

export const FORMS: Record<FormName, DemoForm> = {
  newsletter: {
    name: 'Newsletter sign-up',
    page: `${SITE}/newsletter`,
    requiredFields: ['email'],
    successMessage: 'Welcome! The next issue is on its way.',
    fieldLabels: { first_name: 'First name', email: 'Email', brews_with: 'How do you brew?' },
    share: 44,
  },
  workshop: {
    name: 'Workshop booking',
    page: `${SITE}/workshops/book`,
    requiredFields: ['name', 'email', 'workshop'],
    successMessage: 'Your seat is held. We confirm it within a day.',
    fieldLabels: {
      name: 'Your name',
      email: 'Email',
      workshop: 'Workshop',
      seats: 'Number of seats',
      wishes: 'Anything we should know?',
    },
    replyTemplates: [
      {
        name: 'Seat confirmed',
        subject: 'Your seat at {{workshop}}',
        text: 'Hi {{name}},\n\nyour seat is confirmed. Doors open ten minutes before we start.\n\nSee you soon',
      },
    ],
    share: 22,
  },
  wholesale: {
    name: 'Wholesale enquiry',
    page: `${SITE}/wholesale/enquiry`,
    requiredFields: ['company', 'name', 'email'],
    successMessage: 'Thank you. Jonas will call you this week.',
    fieldLabels: {
      company: 'Company',
      name: 'Your name',
      email: 'Email',
      phone: 'Phone',
      kilos_per_week: 'Kilos per week',
      message: 'What can we do for you?',
    },
    share: 16,
  },
  contact: {
    name: 'Contact',
    page: `${SITE}/contact`,
    requiredFields: ['email', 'message'],
    successMessage: 'Thank you, we answer within two days.',
    fieldLabels: { name: 'Your name', email: 'Email', topic: 'Topic', message: 'Your message' },
    replyTemplates: [
      {
        name: 'On its way',
        subject: 'Your parcel',
        text: 'Hi {{name}},\n\nthanks for your message. Your parcel is on its way and should arrive within two days.',
      },
    ],
    share: 18,
  },
}
export const FORM_NAMES = Object.keys(FORMS) as FormName[]
