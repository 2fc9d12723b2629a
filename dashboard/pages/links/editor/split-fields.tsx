// The variants of a link's split test: where visitors go whom neither rules nor targeting send elsewhere.

import { Plus, Scale, X } from 'lucide-react'
import { useId } from 'react'
import { Button, IconButton } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CollapsibleSection } from '../../../ui/collapsible-section.tsx'
import { CODE_INPUT } from '../../../ui/forms/control-class.ts'
import { DateTimeField } from '../../../ui/forms/date-time-field.tsx'
import { formatExample, TextField } from '../../../ui/forms/field.tsx'
import { findFieldError } from '../../../ui/forms/form-error.tsx'
import { VariantDot } from '../link/variant-dot.tsx'
import { AudiencePreview } from './audience-preview.tsx'
import type { LinkFieldsProps } from './field-props.ts'
import {
  addVariant,
  createSplitDraft,
  isEven,
  removeVariant,
  sumWeights,
  toVariant,
  VARIANTS_MAX,
  VARIANTS_MIN,
  type VariantDraft,
  withEvenWeights,
} from './split-draft.ts'

const WEIGHTS = 100

export function SplitFields(props: LinkFieldsProps) {
  const { draft, errors, onChange } = props
  const { split } = draft
  return (
    <CollapsibleSection
      title="Split test"
      summary={split.map(({ label, weight }) => `${label} ${weight}\u202f%`).join(', ')}
      hasError={Boolean(findFieldError(errors, 'split') ?? errors.splitEndsAt)}
    >
      <p className="text-sm text-soft">
        Shares visitors between variants of the destination, and counts the leads of each. A visitor keeps a
        variant for a day, without a cookie. Rules and targeting decide first.
      </p>
      {split.length === 0 ? (
        <>
          {errors.split && <p className="text-sm text-danger">{errors.split}</p>}
          <Button
            size="small"
            icon={<Plus size={14} />}
            className="justify-self-start"
            onClick={() => onChange({ split: createSplitDraft(draft.destinationUrl) })}
          >
            Start a split test
          </Button>
        </>
      ) : (
        <Variants {...props} />
      )}
    </CollapsibleSection>
  )
}

function Variants({ draft, link, errors, onChange }: LinkFieldsProps) {
  const { split, splitEndsAt } = draft
  const sumId = useId()
  const change = (key: number, part: Partial<VariantDraft>) =>
    onChange({ split: split.map((variant) => (variant.key === key ? { ...variant, ...part } : variant)) })
  return (
    <>
      {split.map((variant, index) => (
        <VariantCard
          key={variant.key}
          {...{ variant, index, errors, sumId }}
          onChange={(part) => change(variant.key, part)}
          onRemove={
            split.length > VARIANTS_MIN
              ? () => onChange({ split: removeVariant(split, variant.key) })
              : undefined
          }
        />
      ))}
      <WeightSum id={sumId} split={split} error={errors.split} />
      <div className="flex flex-wrap gap-2">
        {split.length < VARIANTS_MAX && (
          <Button
            size="small"
            icon={<Plus size={14} />}
            onClick={() => onChange({ split: addVariant(split) })}
          >
            Add variant
          </Button>
        )}
        <Button
          size="small"
          icon={<Scale size={14} />}
          disabled={isEven(split)}
          onClick={() => onChange({ split: withEvenWeights(split) })}
        >
          Split evenly
        </Button>
        <Button size="small" icon={<X size={14} />} onClick={() => onChange({ split: [], splitEndsAt: '' })}>
          Remove split test
        </Button>
      </div>
      <DateTimeField
        label="Ends"
        placeholder="When you end it"
        hint="The better variant becomes the destination then, or the first one where the difference may be chance."
        value={splitEndsAt}
        error={errors.splitEndsAt}
        onChange={(endsAt) => onChange({ splitEndsAt: endsAt })}
      />
      {link?.split && JSON.stringify(link.split) !== JSON.stringify(split.map(toVariant)) && (
        <p role="status" className="rounded-lg bg-warn-tint px-3 py-2 text-sm">
          Other variants are another test: counting begins anew when you save.
        </p>
      )}
      <AudiencePreview draft={draft} />
    </>
  )
}

interface VariantCardProps {
  variant: VariantDraft
  index: number
  errors: Record<string, string>
  sumId: string
  onChange: (part: Partial<VariantDraft>) => void
  onRemove: (() => void) | undefined
}

function VariantCard({ variant, index, errors, sumId, onChange, onRemove }: VariantCardProps) {
  const name = `Variant ${index + 1}`
  const findError = (field: string) => errors[`split.${index}.${field}`]
  return (
    <fieldset aria-label={name} className="grid min-w-0 gap-3 rounded-xl border border-line p-3">
      <div className="flex min-h-9 items-center gap-2">
        <VariantDot index={index} />
        <span className="mr-auto text-sm font-medium" aria-hidden>
          {name}
        </span>
        {onRemove && (
          <IconButton label={`Remove ${name}`} onClick={onRemove}>
            <X size={16} />
          </IconButton>
        )}
      </div>
      <TextField
        {...CODE_INPUT}
        label="Destination"
        inputMode="url"
        placeholder={formatExample('https://example.com/b')}
        value={variant.url}
        error={findError('url') ?? errors[`split.${index}`]}
        onChange={({ target }) => onChange({ url: target.value })}
      />
      <div className="grid grid-cols-[minmax(0,1fr)_7rem] items-start gap-3">
        <TextField
          {...CODE_INPUT}
          label="Label"
          maxLength={40}
          value={variant.label}
          error={findError('label')}
          onChange={({ target }) => onChange({ label: target.value })}
        />
        <TextField
          label="Weight (%)"
          type="number"
          inputMode="numeric"
          min={1}
          max={WEIGHTS - 1}
          step={1}
          value={variant.weight}
          error={findError('weight')}
          // The weights together are wrong: the focus goes to the first of them.
          {...(errors.split && { 'aria-invalid': true, 'aria-describedby': sumId })}
          onChange={({ target }) => onChange({ weight: target.value })}
        />
      </div>
    </fieldset>
  )
}

function WeightSum({ id, split, error }: { id: string; split: VariantDraft[]; error: string | undefined }) {
  const sum = sumWeights(split)
  if (error)
    return (
      <p id={id} className="text-sm text-danger">
        {error}
      </p>
    )
  return (
    <p role="status" className={classNames('text-sm', sum === WEIGHTS ? 'text-soft' : 'text-warn')}>
      {sum === WEIGHTS
        ? 'The weights add up to 100\u202f%.'
        : `The weights add up to ${sum}\u202f%. They must add up to 100\u202f%.`}
    </p>
  )
}
