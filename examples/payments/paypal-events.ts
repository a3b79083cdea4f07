/** What is read of PayPal's events; PayPal publishes no types for them. */
interface PaypalEvent<T extends string> {
  readonly id: string;
  readonly event_type: T;
  readonly resource: {
    readonly id: string;
    readonly amount?: { readonly currency_code: string; readonly value: string };
  };
}

export type PaypalEvents = {
  readonly [T in 'PAYMENT.CAPTURE.COMPLETED' | 'PAYMENT.CAPTURE.REFUNDED']: PaypalEvent<T>;
};
