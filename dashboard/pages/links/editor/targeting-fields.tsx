// The fields for other destinations by device and country.

import { Plus, X } from 'lucide-react'
import { Button, IconButton } from '../../../ui/button.tsx'
import { CollapsibleSection } from '../../../ui/collapsible-section.tsx'
import { COUNTRIES } from '../../../ui/countries.ts'
import { formatCount, formatCountryName, toFlagEmoji } from '../../../ui/format.ts'
import { CODE_INPUT } from '../../../ui/forms/control-class.ts'
import { formatExample, Select, TextField } from '../../../ui/forms/field.tsx'
import { findFieldError } from '../../../ui/forms/form-error.tsx'
import { LINK_DEVICES } from '../link/link-devices.ts'
import { joinTexts, type LinkFieldsProps } from './field-props.ts'
import { createCountryTarget } from './link-draft.ts'

export function TargetingFields({ draft, errors, onChange }: LinkFieldsProps) {
  const devices = LINK_DEVICES.filter(({ name }) => draft[name].trim() !== '').length
  const countries = draft.countries.length
  return (
    <CollapsibleSection
      title="Targeting"
      summary={joinTexts([
        devices > 0 && formatCount(devices, 'device'),
        countries > 0 && formatCount(countries, 'country', 'countries'),
      ])}
      hasError={Boolean(findFieldError(errors, 'deviceTargeting') ?? findFieldError(errors, 'geoTargeting'))}
    >
      {LINK_DEVICES.map(({ name, label, example }) => (
        <TextField
          key={name}
          label={label}
          inputMode="url"
          {...CODE_INPUT}
          placeholder={formatExample(example)}
          value={draft[name]}
          error={errors[`deviceTargeting.${name}`]}
          onChange={({ target }) => onChange({ [name]: target.value })}
        />
      ))}
      <Countries draft={draft} errors={errors} onChange={onChange} />
    </CollapsibleSection>
  )
}

function Countries({ draft: { countries }, errors, onChange }: Omit<LinkFieldsProps, 'link'>) {
  const change = (key: number, part: { code?: string; url?: string }) =>
    onChange({ countries: countries.map((target) => (target.key === key ? { ...target, ...part } : target)) })
  const usedCodes = new Set(countries.map(({ code }) => code))
  return (
    <fieldset className="grid gap-3">
      <legend className="mb-1.5 text-sm font-medium">Countries</legend>
      {countries.map(({ key, code, url }) => (
        <div
          key={key}
          className="grid grid-cols-[minmax(0,1fr)_auto] gap-2 sm:grid-cols-[11rem_minmax(0,1fr)_auto]"
        >
          <Select
            aria-label="Country"
            value={code}
            onChange={({ target }) => change(key, { code: target.value })}
          >
            <option value="">Choose a country</option>
            {COUNTRIES.filter((option) => option === code || !usedCodes.has(option)).map((option) => (
              <option key={option} value={option}>
                {toFlagEmoji(option)} {formatCountryName(option)}
              </option>
            ))}
          </Select>
          <TextField
            label={`Destination for ${code ? formatCountryName(code) : 'the country'}`}
            hideLabel
            inputMode="url"
            {...CODE_INPUT}
            className="max-sm:col-span-2 max-sm:row-start-2"
            placeholder={formatExample('https://example.com/de')}
            value={url}
            error={errors[`geoTargeting.${code || key}`]}
            onChange={({ target }) => change(key, { url: target.value })}
          />
          <IconButton
            label={`Remove ${code ? formatCountryName(code) : 'the country'}`}
            onClick={() => onChange({ countries: countries.filter((target) => target.key !== key) })}
          >
            <X size={16} />
          </IconButton>
        </div>
      ))}
      <Button
        size="small"
        icon={<Plus size={14} />}
        className="justify-self-start"
        onClick={() => onChange({ countries: [...countries, createCountryTarget()] })}
      >
        Add country
      </Button>
    </fieldset>
  )
}
