// The icon of a visitor's browser, system, device or source.

import { CircleHelp, Gamepad2, Globe, Monitor, Smartphone, Tablet, Tv, Watch } from 'lucide-react'
import { lazyPart } from '../lazy-part.tsx'

const BrandGlyph = lazyPart(() => import('./brand-glyph.tsx'), 'BrandGlyph')

const DEVICE_ICONS = {
  Mobile: Smartphone,
  Tablet,
  Desktop: Monitor,
  TV: Tv,
  Console: Gamepad2,
  Wearable: Watch,
}

export function DeviceIcon({ name }: { name: string }) {
  const Icon = DEVICE_ICONS[name as keyof typeof DEVICE_ICONS] ?? CircleHelp
  return <Icon size={16} className="shrink-0 text-soft" aria-hidden />
}

const NO_BRAND = /^(?:\(direct\)|Unknown|Other)$/

export function BrandIcon({ name }: { name: string }) {
  if (NO_BRAND.test(name)) return <Globe size={16} className="shrink-0 text-soft" aria-hidden />
  return (
    <span aria-hidden className="size-4 shrink-0">
      <BrandGlyph name={name} />
    </span>
  )
}
