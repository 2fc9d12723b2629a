// One DNS record to set: type, name and value with copy buttons, and whether it was found.

import { CircleCheck, CircleDashed, CircleX } from 'lucide-react'
import type { ReactNode } from 'react'
import type { DnsRecord } from '../../api/domains.ts'
import { CopyButton } from '../../ui/copy/copy-button.tsx'
import { toRelativeName } from './record-name.ts'

const toMark = (ok: DnsRecord['ok']) => {
  if (ok === true) return { icon: CircleCheck, label: 'Found', color: 'text-accent' }
  if (ok === false) return { icon: CircleX, label: 'Missing', color: 'text-danger' }
  return { icon: CircleDashed, label: 'Not known', color: 'text-soft' }
}

export function DnsRecordBox({ record, zone }: { record: DnsRecord; zone: string }) {
  const { type, name, value, ok } = record
  const { icon: Icon, label, color } = toMark(ok)
  const relative = toRelativeName(name, zone)
  return (
    <div className="rounded-lg border border-line bg-sunken">
      <p
        className={`flex items-center gap-1.5 border-b border-line px-3 py-1.5 text-sm font-medium ${color}`}
      >
        <Icon size={16} aria-hidden />
        {label}
      </p>
      <dl className="grid grid-cols-1 gap-1 px-3 py-2 sm:grid-cols-[4rem_minmax(0,1fr)]">
        <Part name="Type" value={type} copy={false}>
          {type === 'ALIAS' && (
            <p className="text-sm text-soft">Your provider may call it ALIAS, ANAME or CNAME flattening.</p>
          )}
        </Part>
        <Part name="Name" value={name} copy={`Copy name of the ${type} record`}>
          {relative !== name && (
            <p className="flex flex-wrap items-center gap-x-1 text-sm text-soft">
              or <code className="break-all text-ink">{relative}</code>
              <CopyButton text={relative} label={`Copy short name of the ${type} record`} /> where your
              provider adds <code className="break-all">.{zone}</code> by itself
            </p>
          )}
        </Part>
        <Part name="Value" value={value} copy={`Copy value of the ${type} record`} />
      </dl>
    </div>
  )
}

interface PartProps {
  name: string
  value: string
  /** The label of the button, where there is one. */
  copy: string | false
  children?: ReactNode
}

const Part = ({ name, value, copy, children }: PartProps) => (
  <>
    <dt className="text-sm text-soft sm:py-1">{name}</dt>
    <dd className="min-w-0 max-sm:mb-1">
      <span className="flex min-h-8 items-center gap-1">
        <code className="min-w-0 break-all">{value}</code>
        {copy && <CopyButton text={value} label={copy} />}
      </span>
      {children}
    </dd>
  </>
)
