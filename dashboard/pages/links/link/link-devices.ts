// The devices that a link can target, with their labels.

export const LINK_DEVICES = [
  { name: 'ios', label: 'iPhone and iPad', example: 'https://apps.apple.com/app/id…' },
  { name: 'android', label: 'Android', example: 'https://play.google.com/store/apps/…' },
  { name: 'desktop', label: 'Desktop', example: 'https://example.com/download' },
] as const
