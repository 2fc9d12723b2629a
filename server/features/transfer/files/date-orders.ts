// Finds the order of day, month and year in a whole file: one row with a day 13 decides for all.

import { DATE_ORDERS, type DateOrder } from '../schema.ts'

export interface DatePlace {
  row: number
  field: string
  text: string
}

/** The orders that the dates of a file allow. Set `row` and `field` before reading a date. */
export class DateOrders {
  row = 0
  field = ''
  #possible: DateOrder[] = [...DATE_ORDERS]
  #contradiction: DateContradiction | null = null
  /** A date that allows only one order. */
  #clear: DatePlace | null = null
  /** A date that allows more than one. */
  #open: DatePlace | null = null

  note(orders: DateOrder[], text: string): void {
    const place = { row: this.row, field: this.field, text }
    const left = this.#possible.filter((order) => orders.includes(order))
    if (left.length === 0) {
      this.#contradiction ??= {
        first: this.#clear ?? place,
        second: place,
      }
      return
    }
    if (left.length < this.#possible.length) this.#clear = place
    if (orders.length > 1) this.#open ??= place
    this.#possible = left
  }

  /** The only order that all dates of the file allow; null if there are several, or none. */
  get decided(): DateOrder | null {
    return this.#possible.length === 1 && !this.#contradiction ? (this.#possible[0] as DateOrder) : null
  }

  /** The first date that can mean two days, if no other date decides. */
  get ambiguous(): DatePlace | null {
    return this.decided ? null : this.#open
  }

  /** Two dates without a common order. */
  get contradiction(): DateContradiction | null {
    return this.#contradiction
  }
}

export interface DateContradiction {
  first: DatePlace
  second: DatePlace
}
