/** What is read of PayPal's events; PayPal publishes no types for them. */
interface PaypalEvent<T extends string> {
  readonly id: string;
  readonly event_type: T;
  readonly create_time: string;
  readonly resource?: PaypalResource;
}

export interface PaypalResource {
  readonly id: string;
  readonly amount?: { readonly currency_code: string; readonly value: string };
  readonly links?: readonly { readonly rel: string; readonly href: string }[];
}

export type PaypalEvents = {
  readonly [T in 'PAYMENT.CAPTURE.COMPLETED' | 'PAYMENT.CAPTURE.REFUNDED']: PaypalEvent<T>;
};
