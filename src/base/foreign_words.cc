#include "base/foreign_words.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"

namespace comanda {
namespace {

constexpr size_t kNamesMax = 3;

struct Row {
  std::string_view foreign;  // lower case, without separators
  std::array<std::string_view, kNamesMax> ours;
};

constexpr std::array kRows = {
    Row{"addons", {"modifiers"}},
    Row{"amountmoney", {"amount"}},
    Row{"amounttendered", {"received_amount"}},
    Row{"applieddiscounts", {"discounts"}},
    Row{"barcode", {}},
    Row{"basepricemoney", {"variant_price", "price"}},
    Row{"billing", {}},
    Row{"bodyhtml", {"description"}},
    Row{"catalog", {"menu"}},
    Row{"catalogobjectid", {"variant_id"}},
    Row{"catalogvisibility", {"visible"}},
    Row{"categories", {"menu"}},
    Row{"compareatprice", {"original_price", "variant_original_price"}},
    Row{"couponlines", {"discounts"}},
    Row{"currencycode", {}},
    Row{"customer", {"client_id"}},
    Row{"customerid", {"client_id"}},
    Row{"customernote", {"comment"}},
    Row{"customers", {"clients"}},
    Row{"customsku", {"sku"}},
    Row{"defaultcost", {"cost"}},
    Row{"defaultprice", {"price"}},
    Row{"diningoption", {"service_type"}},
    Row{"diningoptionid", {"service_type"}},
    Row{"displayname", {"product_name", "name"}},
    Row{"emailaddress", {"email"}},
    Row{"employees", {"users"}},
    Row{"estimatedfulfillmentdate", {"scheduled_delivery_date"}},
    Row{"extras", {"modifiers"}},
    Row{"feelines", {}},
    Row{"financialstatus", {}},
    Row{"fulfillmentstatus", {"delivery_status"}},
    Row{"gateway", {"payment_method_code"}},
    Row{"givenname", {"name"}},
    Row{"guid", {"id"}},
    Row{"instock", {"stock"}},
    Row{"instructions", {"comment"}},
    Row{"inventoryquantity", {"stock"}},
    Row{"itemgroup", {}},
    Row{"itemid", {"product_id"}},
    Row{"itemname", {"product_name", "name"}},
    Row{"items", {"combos", "products"}},
    Row{"lineitemid", {}},
    Row{"lineitems", {"combos"}},
    Row{"linemodifiers", {"modifiers"}},
    Row{"linenote", {"comment"}},
    Row{"lines", {"combos"}},
    Row{"linetotal", {}},
    Row{"locationid", {}},
    Row{"locations", {"company"}},
    Row{"managestock", {"stock_enabled"}},
    Row{"maxselectedmodifiers", {"max_modifiers"}},
    Row{"maxselections", {"max_modifiers"}},
    Row{"menuorder", {"position"}},
    Row{"merchants", {"company"}},
    Row{"metadata", {}},
    Row{"minselectedmodifiers", {"min_modifiers"}},
    Row{"minselections", {"min_modifiers"}},
    Row{"modifiergroups", {"modifier_categories"}},
    Row{"modifierlistinfo", {"modifier_categories"}},
    Row{"modifierlists", {"modifier_categories"}},
    Row{"modifieroptionid", {"modifier_id"}},
    Row{"modifieroptions", {"modifiers"}},
    Row{"moneyamount", {"amount"}},
    Row{"note", {"comment"}},
    Row{"notes", {"comment"}},
    Row{"optiongroups", {"modifier_categories"}},
    Row{"ordinal", {"position"}},
    Row{"outletid", {}},
    Row{"parentid", {}},
    Row{"paymentmethod", {"payment_method_code", "payment_method_id"}},
    Row{"paymentmethodtitle", {}},
    Row{"paymenttypeid", {"payment_method_id"}},
    Row{"phone", {"phone_number"}},
    Row{"plu", {"sku"}},
    Row{"pricemoney", {"price"}},
    Row{"productioninstructions", {"comment"}},
    Row{"products", {"combos"}},
    Row{"producttype", {"category_name"}},
    Row{"promiseddate", {"scheduled_delivery_date"}},
    Row{"quantityunit", {}},
    Row{"receiptnumber", {"reference"}},
    Row{"receipts", {"orders"}},
    Row{"registersalepayments", {"payments"}},
    Row{"registersaleproducts", {"combos"}},
    Row{"regularprice", {"price"}},
    Row{"retailerpaymenttypeid", {"payment_method_id"}},
    Row{"salelines", {"combos"}},
    Row{"salepayments", {"payments"}},
    Row{"saleprice", {"price"}},
    Row{"sales", {"orders"}},
    Row{"selections", {"combos"}},
    Row{"shippingaddress", {"address_id"}},
    Row{"shippinglines", {"delivery_price"}},
    Row{"shop", {"company"}},
    Row{"shortdescription", {"description"}},
    Row{"sourceid", {"payment_method_id"}},
    Row{"specialinstructions", {"comment"}},
    Row{"state", {"status"}},
    Row{"stockquantity", {"stock"}},
    Row{"storeid", {}},
    Row{"stores", {"company"}},
    Row{"supplyprice", {"cost"}},
    Row{"systemsku", {"sku"}},
    Row{"tablenumber", {"table_id"}},
    Row{"taxes", {}},
    Row{"taxlines", {}},
    Row{"tenders", {"payments"}},
    Row{"ticketname", {"order_title"}},
    Row{"tipmoney", {"tip_amount"}},
    Row{"title", {"product_name", "name", "order_title"}},
    Row{"totalmoney", {}},
    Row{"totalprice", {}},
    Row{"transactionid", {"reference"}},
    Row{"transactions", {"payments"}},
    Row{"unitquantity", {"quantity"}},
    Row{"variationid", {"variant_id"}},
    Row{"variationname", {"variant_name"}},
    Row{"variations", {"variants"}},
    Row{"voidreason", {"reason"}},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::foreign));

}  // namespace

std::optional<std::span<const std::string_view>> OurNamesOf(std::string_view foreign) {
  std::string letters;
  for (const char c : foreign) {
    if (c != '_' && c != '-' && c != ' ') letters += c;
  }
  letters = AsciiLower(letters);
  const auto row = std::ranges::lower_bound(kRows, std::string_view(letters), {}, &Row::foreign);
  if (row == kRows.end() || row->foreign != letters) return std::nullopt;
  const auto end = std::ranges::find(row->ours, std::string_view());
  return std::span(row->ours.begin(), end);
}

}  // namespace comanda
