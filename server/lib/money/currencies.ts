// The currencies of ISO 4217 that are in use, with the number of their decimal places. Metals, units of account of
// banks and codes for tests have no decimal places
// (https://www.six-group.com/en/products-services/financial-information/data-standards.html) and are no currencies
// here.

const BY_PLACES: [places: number, codes: string][] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [
    2,
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP ' +
      'COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR ' +
      'JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN ' +
      'NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL ' +
      'THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG',
  ],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
]

const PLACES = new Map(
  BY_PLACES.flatMap(([places, codes]) => codes.split(' ').map((code): [string, number] => [code, places])),
)

export const isCurrency = (code: string) => PLACES.has(code)

/** The decimal places of a currency; 2 for an unknown code. */
export const getDecimalPlaces = (currency: string) => PLACES.get(currency) ?? 2

export const CURRENCY_MESSAGE = 'must be a currency of ISO 4217, such as EUR'
